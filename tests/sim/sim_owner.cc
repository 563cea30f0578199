#include "tests/sim/sim_owner.h"

namespace outhaul::sim {
namespace {

constexpr const char* policy_text = R"(version: 1
mode: PERMISSIVE
deny: [denied-program]
ask_within: 1m
executables:
  - {path: /usr/bin/asked-program, ask: once}
)";
const std::string asked_path = "/usr/bin/asked-program";

}  // namespace

SimOwner::SimOwner(const Stage& stage, std::string name, std::uint64_t seed)
    : stage_(stage),
      name_(std::move(name)),
      random_(seed),
      policy_(*policy::parse_policy(policy_text, "policy.yaml")),
      files_(name_) {
  for (const auto* program : {"program", asked_program, denied_program}) {
    files_.put(std::string("/usr/bin/") + program, "first");
  }
}

std::string SimOwner::version() const { return *files_.identity(asked_path) + *files_.sha256(asked_path); }

void SimOwner::change_program() {
  const auto content = "change " + std::to_string(++changes_);
  random_.below(2) == 0 ? files_.put(asked_path, content) : files_.overwrite(asked_path, content);
}

std::optional<node::Answer> SimOwner::answer(const node::Question& question) {
  shown_.try_emplace(question.task, version());
  switch (random_.below(8)) {
    case 0: return node::Answer::never;
    case 1:
    case 2: approved_.insert(question.task); return node::Answer::once;
    default: return std::nullopt;  // not at the terminal
  }
}

void SimOwner::check_start(const TaskId& task) {
  const auto& program = stage_.programs.name_of(task);
  if (is_locked()) stage_.verdict.fail("nothing_starts_while_locked", task.text() + " on " + name_);
  if (program == denied_program)
    stage_.verdict.fail("what_policy_denies_never_starts", task.text() + " on " + name_);
  if (program != asked_program) return;
  const auto shown = shown_.find(task);
  const bool is_as_shown = shown != shown_.end() && shown->second == version();
  if (!approved_.contains(task) || !is_as_shown) {
    stage_.verdict.fail("only_what_was_approved_starts", task.text() + " on " + name_);
  }
}

}  // namespace outhaul::sim
