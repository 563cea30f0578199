// outhaul-node: a machine that dials out to its hub and runs signed tasks.
#include <CLI/CLI.hpp>

#include "base/hidden_argument.h"
#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/usage.h"
#include "main/node_program.h"
#include "main/standard_descriptors.h"

int main(int argc, char** argv) {
  outhaul::settle_standard_descriptors();
  outhaul::NodeOptions options;
  CLI::App app("Outhaul's node: dials out to one hub and runs the tasks that it signed.", "outhaul-node");
  app.set_version_flag("--version", "outhaul-node " + std::string(outhaul::version()));
  app.require_subcommand(1);
  auto& enroll = *app.add_subcommand("enroll", "Make this data directory a node of a hub");
  enroll.add_option("--hub", options.hub, "The hub's address, https://HOST[:PORT]")
      ->required()
      ->type_name("URL");
  enroll
      .add_option("--ca-fingerprint", options.ca_fingerprint, "The only CA to believe, as the hub printed it")
      ->required()
      ->type_name("sha256:HEX");
  enroll
      .add_option(
          "--token", options.token,
          "The enrolment token; - reads standard input, as without any of these ways; given here it may stay "
          "in your shell's history")
      ->type_name("T");
  enroll
      .add_option("--token-file", options.token_file,
                  "A private file that holds the token; else OUTHAUL_TOKEN in the environment")
      ->type_name("FILE");
  enroll.add_option("--data", options.data, "The node's data directory")->required()->type_name("DIR");
  enroll.add_option("--name", options.name, "The node's name; else the host's")->type_name("NAME");
  auto& run = *app.add_subcommand("run", "Stay attached and run tasks until SIGTERM");
  run.add_option("--data", options.data, "The node's data directory")->required()->type_name("DIR");
  run.add_option("--config", options.config_file,
                 "node.yaml; else the one in the data directory or /etc/outhaul")
      ->type_name("FILE");
  run.add_option("--hub", options.hub, "Dial this address instead of the one enrolled with")
      ->type_name("URL");
  run.add_flag("--end-tasks", options.end_tasks, "End running tasks when the drain's limit is over");
  outhaul::cli::add_help_words(app);
  try {
    outhaul::cli::parse_words(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return outhaul::cli::report_usage(app, error, outhaul::cli::exit_code::usage);
  }
  outhaul::hide_argument(argc, argv, "--token");
  return enroll.parsed() ? outhaul::enrol_node(options) : outhaul::run_node(options);
}
