// outhaul run, outhaul echo

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/run_session.h"

namespace outhaul::cli {
namespace {

Task<int> run_task(Cli& cli, RunOptions options) {
  auto api = Api::open(cli);
  if (!api) {
    report(api.error());
    co_return exit_code::outhaul;
  }
  RunSession session(cli, std::move(*api), std::move(options));
  co_return co_await session.run();
}

void add_selector(CLI::App& command, RunOptions& options) {
  command.add_option("--node", options.node, "Run on this node (id or name)")->type_name("N");
  command.add_option("--pool", options.pool, "Run on a node of this pool")->type_name("P");
  command.add_option("--label", options.labels, "Run on a node with this label; may be repeated")
      ->type_name("K=V")
      ->allow_extra_args(false);
}

void add_run(CLI::App& app, Invocation& invocation) {
  // Shared by the parser, which fills it, and the action, which outlives the parser's callbacks.
  const auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "Run a command on a node and show its output");
  add_selector(*command, *options);
  command->add_option("--timeout", options->timeout, "End the command after this long (30s, 5m)")
      ->type_name("D");
  command->add_option("--queue-timeout", options->queue_timeout, "Wait this long for a node (default 5m)")
      ->type_name("D");
  command->add_option("--env", options->environment, "Add to the environment; K alone takes our own value")
      ->type_name("K=V")
      ->allow_extra_args(false);
  command->add_option("--cwd", options->directory, "Start in this directory of the node's workspace")
      ->type_name("D");
  command->add_option("--isolation", options->isolation, "The least isolation that will do")
      ->type_name("LEVEL");
  command->add_flag("--stdin", options->has_stdin, "Give the command our standard input");
  command->add_flag("--detach", options->detach, "Print the task's id and do not wait");
  command->add_option("--shell", options->shell, "Run this line with /bin/sh -c")->type_name("LINE");
  command->add_option("argv", options->argv, "The program and its arguments, after --")
      ->type_name("-- ARGV...");
  command->positionals_at_end(true);
  add_json_flag(*command, invocation);
  command->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return run_task(cli, *options); };
  });
}

void add_echo(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("echo", "Send a text to a node and back: checks the whole path");
  command->add_option("--node", options->node, "The node (id or name)")->type_name("N");
  command->add_option("text", options->echo, "What to send")->required();
  add_json_flag(*command, invocation);
  command->callback([&invocation, options] {
    options->echo.push_back('\n');  // as echo(1) does
    invocation.action = [options](Cli& cli) { return run_task(cli, *options); };
  });
}

}  // namespace

void add_run_commands(CLI::App& app, Invocation& invocation) {
  add_run(app, invocation);
  add_echo(app, invocation);
}

}  // namespace outhaul::cli
