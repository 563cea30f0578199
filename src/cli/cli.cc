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
#include "cli/terminal.h"
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

// One line that names the command, what is wrong with its words, and where to read on.
std::string usage_text(const CLI::App* app, const CLI::Error& error) {
  std::string path = "outhaul";
  for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = chosen.front()->get_subcommands()) {
    path += " " + chosen.front()->get_name();
  }
  std::string what = error.what();
  const auto rest = app->remaining();
  if (path == "outhaul" && !rest.empty()) what = fmt::format("there is no command `{}`", rest.front());
  // The library counts the `--` before the command's words as one of those that it did not expect.
  if (const auto at = what.find(": -- "); at != what.npos) what.erase(at + 2, 3);
  return fmt::format("{}: {}; see `{} --help`\n", path, shown(what), path);
}

// CLI11's own codes are many; a wrong command line is always exit_code::usage.
int report_usage(const CLI::App& app, const CLI::ParseError& error, bool is_run) {
  const int code = app.exit(error);
  if (code == 0) return exit_code::done;
  return is_run ? exit_code::outhaul : exit_code::usage;
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
  app.add_option("--context", invocation.options.context, "The context to use (see `outhaul context list`)");
  app.require_subcommand(1);
  app.failure_message(usage_text);
  app.set_help_all_flag("--help-all", "Help of every command");
  add_up_command(app, invocation);
  add_run_commands(app, invocation);
  add_task_commands(app, invocation);
  add_node_commands(app, invocation);
  add_context_commands(app, invocation);
  add_account_commands(app, invocation);
  add_completion_command(app, invocation);
  try {
    app.parse(argc, argv);
    hide_argument(argc, argv, "--token");
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, app.got_subcommand("run"));
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
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("outhaul: {}\n", error.what()).c_str(), stderr);
    return exit_code::failed;
  }
}

}  // namespace outhaul::cli
