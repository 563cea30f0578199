// outhaul up

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/up.h"

namespace outhaul::cli {
namespace {

Task<int> run_up(Cli& cli, UpOptions options) {
  // The first start's commands go to the hub that is being started, whatever the current context is.
  Cli own{cli.executor, cli.clock, cli.random, {.context = "local", .json = false}};
  Up up(own, std::move(options));
  co_return co_await up.run();
}

}  // namespace

void add_up_command(CLI::App& app, Invocation& invocation) {
  // Shared by the parser, which fills it, and the action, which outlives the parser's callbacks.
  const auto options = std::make_shared<UpOptions>();
  auto* command = app.add_subcommand("up", "Start a hub and a node on this machine and keep them running");
  command
      ->add_option(
          "--data", options->data,
          "Where they keep their data (default: $XDG_STATE_HOME/outhaul, else ~/.local/state/outhaul)")
      ->type_name("DIR");
  command->add_option("--listen", options->listen, "The hub's address; port 0 takes any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  command->add_option("--ready-file", options->ready_file, "Written once the node is attached (JSON)")
      ->type_name("FILE");
  command->callback(
      [&invocation, options] { invocation.action = [options](Cli& cli) { return run_up(cli, *options); }; });
}

}  // namespace outhaul::cli
