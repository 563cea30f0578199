// outhaul-node: a machine that dials out to its hub and runs signed tasks.
#include <CLI/CLI.hpp>

#include "base/duration_text.h"
#include "base/hidden_argument.h"
#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/usage.h"
#include "main/ephemeral_program.h"
#include "main/node_doctor.h"
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

CLI::App& add_doctor_command(CLI::App& app, outhaul::DoctorOptions& options) {
  auto& doctor =
      *app.add_subcommand("doctor", "Look at everything that a node needs, change nothing, name what fails");
  doctor.add_option("--data", options.data, "The node's data directory")->required()->type_name("DIR");
  doctor.add_option("--config", options.config_file, "node.yaml; else as `run` finds it")->type_name("FILE");
  doctor.add_option("--hub", options.hub, "As `run --hub`")->type_name("URL");
  doctor.add_flag("--json", options.json, "As JSON");
  return doctor;
}

// Of a machine that becomes a node: with `enroll`, or for one stint.
void add_enrolment_options(CLI::App& command, outhaul::NodeOptions& options) {
  command.add_option("--hub", options.hub, "The hub's address, https://HOST[:PORT]")->type_name("URL");
  command
      .add_option("--ca-fingerprint", options.ca_fingerprint, "The only CA to believe, as the hub printed it")
      ->type_name("sha256:HEX");
  command
      .add_option(
          "--token", options.token,
          "The enrolment token; - reads standard input, as without any of these ways; given here it may stay "
          "in your shell's history")
      ->type_name("T");
  command
      .add_option("--token-file", options.token_file,
                  "A private file that holds the token; else OUTHAUL_TOKEN in the environment")
      ->type_name("FILE");
  command.add_option("--data", options.data, "The node's data directory")->type_name("DIR");
  command.add_option("--name", options.name, "The node's name; else the host's")->type_name("NAME");
}

// `--isolation` and the two ends of a stint.
void add_stint_options(CLI::App& run, outhaul::NodeOptions& options) {
  run.add_option_function<std::uint64_t>(
         "--tasks", [&options](const std::uint64_t& tasks) { options.stint.tasks = tasks; },
         "Ephemeral: leave when so many tasks are done; no more are taken")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  run.add_option_function<std::string>(
         "--idle",
         [&options](const std::string& text) {
           const auto idle = outhaul::parse_duration(text);
           if (!idle || idle->count() <= 0)
             throw CLI::ValidationError("--idle", "must be a duration, such as 90s");
           options.stint.idle = *idle;
         },
         "Ephemeral: leave when there was nothing to do for so long")
      ->type_name("DURATION");
  run.add_option_function<std::string>(
         "--isolation",
         [&options](const std::string& word) {
           // `trusted` is all that this version can give.
           if (word != "trusted") throw CLI::ValidationError("--isolation", "must be trusted");
           options.isolation = {outhaul::wire::IsolationLevel::trusted};
         },
         "Ephemeral: the level at which tasks may run, as `isolation` in node.yaml; without it nothing runs")
      ->type_name("LEVEL");
}

void add_run_options(CLI::App& run, outhaul::NodeOptions& options) {
  add_enrolment_options(run, options);
  run.get_option("--hub")->description(
      "Ephemeral: the hub to enrol with; else the address to dial instead of the one enrolled with");
  run.get_option("--data")->description("The node's data directory; ephemeral: else a temporary one");
  run.add_option("--config", options.config_file,
                 "node.yaml; else the one in the data directory or /etc/outhaul")
      ->type_name("FILE");
  run.add_flag("--end-tasks", options.end_tasks, "End running tasks when the drain's limit is over");
  auto* ephemeral =
      run.add_flag("--ephemeral", options.is_ephemeral,
                   "Enrol, run, and leave the hub's registry at the end: by SIGTERM, --tasks or "
                   "--idle");
  add_stint_options(run, options);
  for (const char* only :
       {"--ca-fingerprint", "--token", "--token-file", "--name", "--tasks", "--idle", "--isolation"}) {
    run.get_option(only)->needs(ephemeral);
  }
  run.callback([&options, &run] {
    if (!options.is_ephemeral && options.data.empty()) throw CLI::RequiredError("--data");
    for (const char* needed : {"--hub", "--ca-fingerprint"}) {
      if (options.is_ephemeral && run.count(needed) == 0) throw CLI::RequiredError(needed);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  outhaul::settle_standard_descriptors();
  outhaul::NodeOptions options;
  CLI::App app("Outhaul's node: dials out to one hub and runs the tasks that it signed.", "outhaul-node");
  app.set_version_flag("--version", "outhaul-node " + std::string(outhaul::version()));
  app.require_subcommand(1);
  auto& enroll = *app.add_subcommand("enroll", "Make this data directory a node of a hub");
  auto& run = *app.add_subcommand("run", "Stay attached and run tasks until SIGTERM");
  add_enrolment_options(enroll, options);
  enroll.get_option("--hub")->required();
  enroll.get_option("--ca-fingerprint")->required();
  enroll.get_option("--data")->required();
  add_run_options(run, options);
  OwnerOptions owner;
  Command chosen = nullptr;
  add_policy_commands(app, owner, chosen);
  add_approval_commands(app, owner, chosen);
  add_lock_commands(app, owner, chosen);
  outhaul::DoctorOptions doctor;
  const auto& examine = add_doctor_command(app, doctor);
  outhaul::cli::add_help_words(app);
  try {
    outhaul::cli::parse_words(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return outhaul::cli::report_usage(app, error, outhaul::cli::exit_code::usage);
  }
  outhaul::hide_argument(argc, argv, "--token");
  if (chosen != nullptr) return chosen(owner);
  if (examine.parsed()) return outhaul::examine_node(doctor);
  if (enroll.parsed()) return outhaul::enrol_node(options);
  return options.is_ephemeral ? outhaul::run_ephemeral_node(std::move(options)) : outhaul::run_node(options);
}
