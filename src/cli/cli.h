// The command line of `outhaul`: reads argv, runs one action, gives the exit code.
#pragma once

namespace outhaul::cli {

int run_command_line(int argc, char** argv);

}  // namespace outhaul::cli
