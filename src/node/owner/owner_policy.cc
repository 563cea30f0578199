#include "node/owner/owner_policy.h"

#include <algorithm>

#include "node/tasks/process_spec.h"

namespace outhaul::node {
namespace {

// A policy applied to what would be executed.
policy::Verdict judge_spec(const policy::Policy& policy, const wire::TaskSpec& task,
                           const sandbox::ProcessSpec& spec, std::string_view plane,
                           const policy::ProgramFiles& files) {
  policy::Request request;
  request.owner = task.owner;
  request.plane = plane;
  request.argv = spec.argv;
  for (const auto& variable : task.env) request.set_variables.push_back(variable.name);
  request.search_path = search_path_of(spec);
  request.directory = spec.directory;
  request.relative_directory = task.cwd;
  return policy::judge(policy, request, files);
}

}  // namespace

bool OwnerPolicy::may_ask() const {
  if (!exists()) return false;
  const auto& policy = *settings_.policy;
  const bool has_asking_rule = std::ranges::any_of(policy.executables, [](const policy::Rule& rule) {
    return rule.ask.value_or(policy::Ask::never) != policy::Ask::never;
  });
  return policy.ask != policy::Ask::never || has_asking_rule;
}

bool OwnerPolicy::accepts_owner(const AccountId& owner) const {
  return !settings_.policy || policy::accepts_owner(*settings_.policy, owner);
}

policy::Verdict OwnerPolicy::judge(const wire::TaskSpec& task, std::string_view plane) const {
  const bool starts_nothing = std::holds_alternative<wire::EchoAction>(task.action);
  if (!exists() || starts_nothing) {
    return {.outcome = policy::Outcome::allowed,
            .ask = policy::Ask::never,
            .reason = "no policy",
            .programs = {}};
  }
  return judge_spec(*settings_.policy, task, make_process_spec(task, settings_), plane, *files_);
}

// The jobs own all that they touch but the files, which outlive the node.
Task<Result<TaskBinding>> OwnerPolicy::bind(wire::TaskSpec task) const {
  std::function<Result<TaskBinding>()> job = [spec = make_process_spec(task, settings_), owner = task.owner,
                                              files = files_] { return bind_task(spec, owner, *files); };
  co_return co_await run_job(work_, std::move(job));
}

Task<Result<HeldTask>> OwnerPolicy::hold(wire::TaskSpec task) const {
  if (!exists()) co_return fail(ErrorCode::consent_void, "the policy that asked is gone");
  auto spec = make_process_spec(task, settings_);
  std::function<Result<HeldTask>()> job = [policy = *settings_.policy, task, spec, files = files_] {
    const auto verdict = judge_spec(policy, task, spec, "task", *files);
    if (verdict.outcome != policy::Outcome::refused) return hold_task(spec, task.owner, *files);
    return Result<HeldTask>(
        fail(ErrorCode::task_policy_refused, "the policy of the node's owner does not allow it any more"));
  };
  co_return co_await run_job(work_, std::move(job));
}

}  // namespace outhaul::node
