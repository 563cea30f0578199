// outhaul-node: a machine that dials out to its hub and runs signed tasks.
#include <CLI/CLI.hpp>

#include "base/hidden_argument.h"
#include "base/version.h"
#include "main/node_program.h"
#include "main/standard_descriptors.h"

int main(int argc, char** argv) {
  outhaul::settle_standard_descriptors();
  outhaul::NodeOptions options;
  CLI::App app("Outhaul's node: dials out to one hub and runs the tasks that it signed.");
  app.set_version_flag("--version", "outhaul-node " + std::string(outhaul::version()));
  app.require_subcommand(1);
  auto& enroll = *app.add_subcommand("enroll", "Make this data directory a node of a hub");
  enroll.add_option("--hub", options.hub, "The hub's address, https://HOST[:PORT]")->required();
  enroll.add_option("--ca-fingerprint", options.ca_fingerprint, "sha256:..., as the hub printed it")
      ->required();
  enroll.add_option("--token", options.token,
                    "The enrolment token; - reads standard input; else OUTHAUL_TOKEN, else standard input");
  enroll.add_option("--data", options.data, "The node's data directory")->required();
  enroll.add_option("--name", options.name, "The node's name; else the host's");
  auto& run = *app.add_subcommand("run", "Stay attached and run tasks until SIGTERM");
  run.add_option("--data", options.data, "The node's data directory")->required();
  run.add_option("--config", options.config_file,
                 "node.yaml; else the one in the data directory or /etc/outhaul");
  run.add_option("--hub", options.hub, "Dial this address instead of the one enrolled with");
  run.add_flag("--end-tasks", options.end_tasks, "End running tasks when the drain's limit is over");
  CLI11_PARSE(app, argc, argv);
  outhaul::hide_argument(argc, argv, "--token");
  return enroll.parsed() ? outhaul::enrol_node(options) : outhaul::run_node(options);
}
