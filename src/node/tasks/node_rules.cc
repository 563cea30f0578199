#include "node/tasks/node_rules.h"

#include <algorithm>
#include <string>

#include "base/planted_fault.h"

namespace outhaul::node {
namespace {

// What a task may print before anyone must look again: its first small stream.
constexpr std::uint64_t expected_output_bytes = 256U << 10U;

}  // namespace

Result<void> NodeRules::check_owner(const wire::TaskSpec& spec) const {
  if (needs_.policy.accepts_owner(spec.owner)) return {};
  return fail(ErrorCode::task_owner_unknown, "this node takes no tasks of the account");
}

Result<void> NodeRules::check_policy(const wire::TaskSpec& spec) const {
  const bool is_allowed = std::ranges::any_of(
      needs_.settings.isolation, [&](wire::IsolationLevel level) { return level >= spec.isolation; });
  if (is_allowed) return check_programs(spec);
  return fail(Error(ErrorCode::isolation_unavailable,
                    "this node's file allows no isolation level that is enough for the task")
                  .with("level", std::string(wire::name_of(spec.isolation))));
}

Result<void> NodeRules::check_programs(const wire::TaskSpec& spec) const {
  const auto verdict = needs_.policy.judge(spec);
  if (verdict.outcome != policy::Outcome::refused || OUTHAUL_FAULT("policy_ignored")) return {};
  needs_.log.info("a task is against the policy", {{"task", spec.task_id.text()}, {"why", verdict.reason}});
  return fail(ErrorCode::task_policy_refused, "the policy of the node's owner does not allow it");
}

Result<void> NodeRules::check_consent(const wire::TaskSpec& spec) const {
  return needs_.consent.asks(spec) ? needs_.consent.check_room() : Result<void>();
}

Result<void> NodeRules::check_capacity(const wire::TaskSpec&) const {
  const Load load = needs_.load();
  // Above all else: nothing that waits or has room matters then.
  if (load.is_locked) return fail(ErrorCode::node_locked, "the node's owner has locked it");
  if (load.is_draining) return fail(ErrorCode::draining, "the node takes no new task: it is draining");
  if (load.is_launcher_silent) {
    return fail(ErrorCode::draining, "the node takes no new task: its launcher does not answer");
  }
  if (load.running >= needs_.settings.slots) {
    return fail(Error(ErrorCode::node_full, "every slot of the node is taken")
                    .with("slots", std::to_string(needs_.settings.slots)));
  }
  const auto free_bytes = needs_.disk.free_bytes();
  const bool is_low = free_bytes && *free_bytes < needs_.settings.disk_floor_bytes;
  if (is_low || !needs_.streams.check_room(expected_output_bytes)) {
    return fail(Error(ErrorCode::node_disk_full, "the node's disk or its spool is too full for another task")
                    .with("floor_bytes", std::to_string(needs_.settings.disk_floor_bytes)));
  }
  return {};
}

}  // namespace outhaul::node
