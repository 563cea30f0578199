#include "cli/cli.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/hidden_argument.h"
#include "base/system_clock.h"
#include "base/task_group.h"
#include "base/version.h"
#include "cli/api.h"
#include "cli/invocation.h"
#include "cli/usage.h"
#include "crypto/system_random.h"

namespace outhaul::cli {
namespace {

int run_action(const Invocation& invocation) {
  // A reader that goes away is an error of write(), which the command can still answer for.
  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context io(1);
  SystemClock clock;
  crypto::SystemRandom random;
  Cli cli{io.get_executor(), clock, random, invocation.options};
  int code = exit_code::failed;
  TaskGroup group(io.get_executor());
  std::exception_ptr failure;
  group.spawn([&]() -> Task<void> { code = co_await invocation.action(cli); });
  asio::co_spawn(io, group.join(), [&failure](std::exception_ptr thrown) { failure = std::move(thrown); });
  io.run();
  if (failure) std::rethrow_exception(failure);
  return code;
}

// Where the exit code is the task's, ours is one that no command is likely to have.
int usage_code_for(const CLI::App& app) {
  const auto* const task = app.get_subcommand("task");
  const bool gives_code_of_a_task =
      app.got_subcommand("run") || app.got_subcommand("echo") || task->got_subcommand("wait");
  return gives_code_of_a_task ? exit_code::outhaul : exit_code::usage;
}

// A listing that did not reach its reader is a failure, also when everything before it went well.
int flush_output(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  // The error of the failed write is long gone; whether anybody reads can still be asked.
  pollfd reader{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) return exit_code::broken_pipe;
  std::fputs("outhaul: standard output could not be written\n", stderr);
  return code == exit_code::done ? exit_code::failed : code;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Run commands on machines that dial out to one hub.", "outhaul");
  Invocation invocation;
  app.set_version_flag("--version", fmt::format("outhaul {}", version()));
  app.add_option("--context", invocation.options.context, "The hub to ask (see `outhaul context list`)")
      ->type_name("NAME");
  app.require_subcommand(1);
  app.footer(
      "\nFirst steps: `outhaul up` in one terminal, `outhaul run -- uname -a` in another.\n"
      "`outhaul help COMMAND` explains a command, `outhaul help exit-codes` the exit codes.");
  add_up_command(app, invocation);
  add_run_commands(app, invocation);
  add_task_commands(app, invocation);
  add_node_commands(app, invocation);
  add_context_commands(app, invocation);
  add_account_commands(app, invocation);
  add_key_commands(app, invocation);
  add_audit_commands(app, invocation);
  add_completion_command(app, invocation);
  add_help_words(app);
  // After the commands, which would all inherit it.
  app.set_help_all_flag("--help-all", "Help of every command");
  try {
    parse_words(app, argc, argv);
    hide_argument(argc, argv, "--token");
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, usage_code_for(app));
  }
  return flush_output(run_action(invocation));
}

}  // namespace

void add_json_flag(CLI::App& command, Invocation& invocation) {
  command.add_flag("--json", invocation.options.json, "Print JSON");
}

int run_command_line(int argc, char** argv) {
  // The most frequent question of scripts needs no parser.
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("outhaul %s\n", std::string(version()).c_str());
    return exit_code::done;
  }
  if (argc == 3 && std::strcmp(argv[1], "help") == 0 && std::strcmp(argv[2], "exit-codes") == 0) {
    std::fputs(std::string(exit_code_table).c_str(), stdout);
    return flush_output(exit_code::done);
  }
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("outhaul: {}\n", error.what()).c_str(), stderr);
    return exit_code::failed;
  }
}

}  // namespace outhaul::cli
