#include "node/tasks/node_rules.h"

#include <algorithm>
#include <string>

namespace outhaul::node {
namespace {

// What a task may print before anyone must look again: its first small stream.
constexpr std::uint64_t expected_output_bytes = 256U << 10U;

}  // namespace

NodeRules::NodeRules(const NodeSettings& settings, stream::Disk& disk, stream::StreamStore& streams,
                     std::function<Load()> load)
    : settings_(settings), disk_(disk), streams_(streams), load_(std::move(load)) {}

Result<void> NodeRules::check_policy(const wire::TaskSpec& spec) const {
  const bool is_allowed = std::ranges::any_of(
      settings_.isolation, [&](wire::IsolationLevel level) { return level >= spec.isolation; });
  if (is_allowed) return {};
  return fail(Error(ErrorCode::isolation_unavailable,
                    "this node's file allows no isolation level that is enough for the task")
                  .with("level", std::string(wire::name_of(spec.isolation))));
}

Result<void> NodeRules::check_capacity(const wire::TaskSpec&) const {
  const Load load = load_();
  if (load.is_draining) return fail(ErrorCode::draining, "the node takes no new task: it is draining");
  if (load.is_launcher_silent) {
    return fail(ErrorCode::draining, "the node takes no new task: its launcher does not answer");
  }
  if (load.running >= settings_.slots) {
    return fail(Error(ErrorCode::node_full, "every slot of the node is taken")
                    .with("slots", std::to_string(settings_.slots)));
  }
  const auto free_bytes = disk_.free_bytes();
  const bool is_low = free_bytes && *free_bytes < settings_.disk_floor_bytes;
  if (is_low || !streams_.check_room(expected_output_bytes)) {
    return fail(Error(ErrorCode::node_disk_full, "the node's disk or its spool is too full for another task")
                    .with("floor_bytes", std::to_string(settings_.disk_floor_bytes)));
  }
  return {};
}

}  // namespace outhaul::node
