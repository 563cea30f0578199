// outhaul run, outhaul echo

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/option_text.h"
#include "cli/run_session.h"
#include "cli/standard_input.h"

namespace outhaul::cli {
namespace {

bool signs_by_default(const Cli& cli) {
  const auto file = ContextFile::load(ContextFile::default_path());
  const auto* const context = file ? file->find(cli.options.context) : nullptr;
  return context != nullptr && context->signs;
}

Task<int> run_task(Cli& cli, RunOptions options) {
  auto api = Api::open(cli);
  if (!api) {
    report(api.error());
    co_return exit_code::outhaul;
  }
  if (!options.no_sign && signs_by_default(cli)) options.sign = true;
  RunSession session(cli, std::move(*api), std::move(options));
  co_return co_await session.run();
}

// An empty name is a variable that is unset and not any node.
std::string empty_fault(const std::string& name) { return name.empty() ? "must not be empty" : ""; }

void add_selector(CLI::App& command, RunOptions& options) {
  command.add_option("--node", options.node, "Run on this node (id or name)")
      ->type_name("N")
      ->check(empty_fault);
  command.add_option("--pool", options.pool, "Run on a node of this pool")
      ->type_name("P")
      ->check(empty_fault);
  command.add_option("--label", options.labels, "Run on a node with this label; may be repeated")
      ->type_name("K=V")
      ->allow_extra_args(false);
}

void add_run(CLI::App& app, Invocation& invocation) {
  // Shared by the parser, which fills it, and the action, which outlives the parser's callbacks.
  const auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "Run a command on a node and show its output");
  add_selector(*command, *options);
  takes_duration(
      command->add_option("--timeout", options->timeout, "End the command after this long (30s, 5m)"));
  takes_duration(command->add_option("--queue-timeout", options->queue_timeout,
                                     "Give up when no node took it for this long (default 5m)"));
  command
      ->add_option("--env", options->environment,
                   "Set a variable; K alone passes on the value it has here; may be repeated")
      ->type_name("K=V")
      ->allow_extra_args(false);
  command
      ->add_option("--cwd", options->directory,
                   "Start in this directory below the node's workspace (default: the workspace itself)")
      ->type_name("DIR");
  command
      ->add_option("--isolation", options->isolation,
                   "The least isolation that will do (this version has `trusted` only)")
      ->type_name("LEVEL");
  command->add_flag("--stdin", options->has_stdin,
                    "Give the command the standard input from here (default: none)");
  auto* sign =
      command->add_flag("--sign", options->sign,
                        "Sign it with your own key (`outhaul key create`); default: as the context says");
  command->add_flag("--no-sign", options->no_sign, "Do not sign it, whatever the context says")
      ->excludes(sign);
  command->add_option("--key", options->key, "The name of the key that signs (default: default)")
      ->type_name("NAME");
  command->add_flag("--detach", options->detach,
                    "Print the task's id and leave; see `outhaul task wait` and `task logs`");
  command->add_option("--shell", options->shell, "Run this line with /bin/sh -c")->type_name("LINE");
  command->add_option("argv", options->argv, "The program and its arguments, after --")
      ->type_name("-- ARGV...");
  command->positionals_at_end(true);
  command->add_flag("--json", invocation.options.json,
                    "Print output and result as JSON lines (docs/command-line.md)");
  command->footer(
      "\nExamples:\n"
      "  outhaul run -- uname -a\n"
      "  outhaul run --node alpha --timeout 30s --shell 'du -sh * | sort -h'\n\n" +
      std::string(exit_code_table));
  command->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return run_task(cli, *options); };
  });
}

constexpr std::size_t max_echo_bytes = std::size_t{64} << 10U;

// Without a text it is standard input, byte for byte, that goes there and back.
Task<int> run_echo(Cli& cli, RunOptions options) {
  if (options.echo.empty()) {
    auto text = co_await read_all_input(cli.executor, max_echo_bytes);
    if (!text) {
      report(text.error());
      co_return exit_code::outhaul;
    }
    options.echo = std::move(*text);
  }
  co_return co_await run_task(cli, std::move(options));
}

void add_echo(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("echo", "Send a text to a node and back: checks the whole path");
  add_selector(*command, *options);
  auto* text = command->add_option("text", options->echo, "What to send (default: standard input)");
  add_json_flag(*command, invocation);
  command->callback([&invocation, options, text] {
    if (text->count() > 0) options->echo.push_back('\n');  // as echo(1) does
    invocation.action = [options](Cli& cli) { return run_echo(cli, *options); };
  });
}

}  // namespace

void add_run_commands(CLI::App& app, Invocation& invocation) {
  add_run(app, invocation);
  add_echo(app, invocation);
}

}  // namespace outhaul::cli
