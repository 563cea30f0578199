// outhaul-hub: the control plane.
#include <CLI/CLI.hpp>

#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/usage.h"
#include "main/hub_program.h"
#include "main/standard_descriptors.h"

int main(int argc, char** argv) {
  outhaul::settle_standard_descriptors();
  outhaul::HubOptions options;
  CLI::App app("Outhaul's hub: accounts, nodes and tasks, and the port that nodes dial.", "outhaul-hub");
  app.set_version_flag("--version", "outhaul-hub " + std::string(outhaul::version()));
  app.require_subcommand(1);
  const auto add_data = [&options](CLI::App& command) {
    command.add_option("--data", options.data, "The hub's data directory")->required()->type_name("DIR");
  };
  const auto add_config = [&options](CLI::App& command) {
    command
        .add_option("--config", options.config_file, "hub.yaml; else /etc/outhaul/hub.yaml, if there is one")
        ->type_name("FILE");
  };
  const auto add_json = [&options](CLI::App& command) {
    command.add_flag("--json", options.json, "Say it as one JSON object");
  };
  auto& init = *app.add_subcommand("init", "Make a new deployment in an empty directory");
  add_data(init);
  init.add_option("--deployment", options.deployment, "Its DNS name, such as outhaul.example.org")
      ->required()
      ->type_name("NAME");
  auto& serve = *app.add_subcommand("serve", "Serve people and nodes until SIGTERM");
  add_data(serve);
  add_config(serve);
  serve
      .add_option(
          "--listen", options.listen,
          "Where to listen; else as hub.yaml says, else [::]:443, or [::]:8443 for who is not root; port 0 "
          "is any")
      ->type_name("ADDRESS:PORT");
  serve.add_option("--ready-file", options.ready_file, "Written as JSON once the hub serves")
      ->type_name("FILE");
  auto& check = *app.add_subcommand(
      "check", "Read configuration, keys, database and streams, change nothing, name every fault");
  add_data(check);
  add_json(check);
  add_config(check);
  auto& backup = *app.add_subcommand("backup", "Copy a hub's data directory, also while the hub serves");
  add_data(backup);
  backup.add_option("--to", options.to, "The directory to make; it will hold the deployment's keys")
      ->required()
      ->type_name("DIR");
  add_json(backup);
  auto& restore = *app.add_subcommand("restore", "Make a new data directory out of a backup");
  restore.add_option("--from", options.from, "A directory that `backup` made")->required()->type_name("DIR");
  add_data(restore);
  add_json(restore);
  outhaul::cli::add_help_words(app);
  try {
    outhaul::cli::parse_words(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return outhaul::cli::report_usage(app, error, outhaul::cli::exit_code::usage);
  }
  if (init.parsed()) return outhaul::init_hub(options);
  if (serve.parsed()) return outhaul::serve_hub(options);
  if (backup.parsed()) return outhaul::backup_hub(options);
  return restore.parsed() ? outhaul::restore_hub(options) : outhaul::check_hub(options);
}
