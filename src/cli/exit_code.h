// What `outhaul` exits with. docs/command-line.md and `outhaul help exit-codes` have the same table.
#pragma once

#include <string_view>

namespace outhaul::cli {

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;        // the hub said no, or could not be reached
inline constexpr int usage = 2;         // the command line itself is wrong
inline constexpr int time_limit = 124;  // the rest as timeout(1), env(1) and `docker run` have them
inline constexpr int outhaul = 125;  // where a command's own code is given: Outhaul failed, not the command
inline constexpr int not_executable = 126;
inline constexpr int not_found = 127;
inline constexpr int signalled = 128;  // plus the number of the signal that ended the command
// Nobody reads what we print any more: silent, as other programs that SIGPIPE ends.
inline constexpr int broken_pipe = signalled + 13;
}  // namespace exit_code

inline constexpr std::string_view exit_code_table =
    "Exit codes of `outhaul run`, `outhaul echo` and `outhaul task wait`:\n"
    "  0-255    the command's own code\n"
    "  128+N    signal N ended the command: 137 is KILL, 139 SEGV, 143 TERM\n"
    "  124      the command passed its --timeout and was ended\n"
    "  125      Outhaul failed and not the command: no hub, no node in time, a wrong command line,\n"
    "           a task that somebody else cancelled or that was lost\n"
    "  126      the program is there and cannot be executed\n"
    "  127      there is no such program on the node\n"
    "  130 143  Ctrl-C or SIGTERM came here and the task was cancelled; a command that then\n"
    "           exits by itself gives its own code\n"
    "  141      nobody reads the output any more\n"
    "Standard error says which it was, also where a command itself exits with 124 or more.\n"
    "\n"
    "Every other command: 0 it is done, 1 the hub said no or could not be reached, 2 the command line\n"
    "is wrong (outhaul-hub and outhaul-node too), 141 nobody reads the output any more.\n";

}  // namespace outhaul::cli
