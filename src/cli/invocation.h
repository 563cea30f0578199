// What every command is given, and how it hands over what is to be done. Parsing (CLI11) is over before
// anything connects; one action runs, on one strand, and its number is the exit code.
#pragma once

#include <functional>
#include <string>

#include "base/async_clock.h"
#include "base/random.h"
#include "base/task.h"
#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace outhaul::cli {

struct GlobalOptions {
  std::string context;  // empty: the current one
  bool json = false;
};

// The world of one action; outlives it.
struct Cli {
  Executor executor;
  AsyncClock& clock;
  Random& random;
  GlobalOptions options;
};

using Action = std::function<Task<int>(Cli&)>;

// Filled while the command line is read.
struct Invocation {
  GlobalOptions options;
  Action action;
};

// One function per group; each adds its commands to `app`. `invocation` outlives the parsing.
void add_run_commands(CLI::App& app, Invocation& invocation);
void add_task_commands(CLI::App& app, Invocation& invocation);
void add_node_commands(CLI::App& app, Invocation& invocation);
void add_account_commands(CLI::App& app, Invocation& invocation);
void add_key_commands(CLI::App& app, Invocation& invocation);
void add_audit_commands(CLI::App& app, Invocation& invocation);
// Below `outhaul task`.
void add_receipt_commands(CLI::App& task_group, Invocation& invocation);
void add_context_commands(CLI::App& app, Invocation& invocation);
void add_up_command(CLI::App& app, Invocation& invocation);
void add_completion_command(CLI::App& app, Invocation& invocation);

// `--json` on a command; it may stand before or after the command's name.
void add_json_flag(CLI::App& command, Invocation& invocation);

}  // namespace outhaul::cli
