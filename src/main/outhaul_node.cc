// outhaul-node: a machine that dials out to its hub and runs signed tasks.
#include <CLI/CLI.hpp>

#include "base/hidden_argument.h"
#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/usage.h"
#include "main/node_program.h"
#include "main/owner_program.h"
#include "main/standard_descriptors.h"

namespace {

using outhaul::OwnerOptions;
using Command = int (*)(const OwnerOptions&);

CLI::App& add_command(CLI::App& parent, const char* name, const char* help, OwnerOptions& options,
                      Command& chosen, Command command) {
  auto& sub = *parent.add_subcommand(name, help);
  sub.add_option("--data", options.data, "The node's data directory")->required()->type_name("DIR");
  sub.callback([&chosen, command] { chosen = command; });
  return sub;
}

void add_policy_commands(CLI::App& app, OwnerOptions& options, Command& chosen) {
  auto& policy = *app.add_subcommand("policy", "What policy.yaml allows");
  policy.require_subcommand(1);
  auto& check = add_command(policy, "check", "Read the owner's files and name rules that allow anything",
                            options, chosen, outhaul::check_policy);
  auto& explain =
      add_command(policy, "explain", "What the policy says of one command: exit code 0, 3 asked, 4 refused",
                  options, chosen, outhaul::explain_policy);
  for (auto* sub : {&check, &explain}) {
    sub->add_option("--config", options.config_file, "node.yaml; else as `run` finds it");
    sub->add_flag("--json", options.json, "As JSON");
  }
  explain.add_option("--shell", options.shell, "A line for /bin/sh");
  explain.add_option("--cwd", options.cwd, "Below the workspace");
  explain.add_option("--env", options.env, "NAME=VALUE, as the task sets it");
  explain.add_option("--owner", options.account, "The account whose task it is");
  explain.add_option("--plane", options.plane, "The plane; else task");
  explain.add_option("argv", options.argv, "The command");
}

void add_approval_commands(CLI::App& app, OwnerOptions& options, Command& chosen) {
  auto& approvals = *app.add_subcommand("approvals", "Questions of the policy that wait for an answer");
  approvals.add_option("--data", options.data, "The node's data directory");
  approvals.callback([&options, &chosen] {
    if (chosen != nullptr) return;
    if (options.data.empty()) throw CLI::RequiredError("--data");
    chosen = outhaul::attend_approvals;
  });
  auto& list = add_command(approvals, "list", "Show them", options, chosen, outhaul::list_approvals);
  auto& answer = add_command(approvals, "answer", "Answer one", options, chosen, outhaul::answer_approval);
  add_command(approvals, "forget", "Take back every yes for the session and every never", options, chosen,
              outhaul::forget_approvals);
  for (auto* sub : {&list, &answer}) sub->add_flag("--json", options.json, "As JSON");
  answer.add_option("task", options.task, "The task that asks")->required();
  answer.add_option("answer", options.answer, "once, session or never")->required();
}

void add_lock_commands(CLI::App& app, OwnerOptions& options, Command& chosen) {
  add_command(app, "lock", "End everything at once and start nothing until `unlock`", options, chosen,
              outhaul::lock_node)
      .add_option("--reason", options.reason, "One line, for yourself");
  add_command(app, "unlock", "Let tasks start again", options, chosen, outhaul::unlock_node);
}

}  // namespace

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
  OwnerOptions owner;
  Command chosen = nullptr;
  add_policy_commands(app, owner, chosen);
  add_approval_commands(app, owner, chosen);
  add_lock_commands(app, owner, chosen);
  outhaul::cli::add_help_words(app);
  try {
    outhaul::cli::parse_words(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return outhaul::cli::report_usage(app, error, outhaul::cli::exit_code::usage);
  }
  outhaul::hide_argument(argc, argv, "--token");
  if (chosen != nullptr) return chosen(owner);
  return enroll.parsed() ? outhaul::enrol_node(options) : outhaul::run_node(options);
}
