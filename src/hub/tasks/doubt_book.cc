#include "hub/tasks/doubt_book.h"

namespace outhaul::hub {
namespace {

// A node names no more streams in one Hello.
constexpr int most_named_streams = 4096;

}  // namespace

NodeHoldings::NodeHoldings(const v1::Hello& hello)
    : tasks(hello.live_tasks().begin(), hello.live_tasks().end()),
      may_be_more(hello.unacknowledged_size() >= most_named_streams) {
  for (const auto& position : hello.unacknowledged()) streams.insert(position.stream_id());
}

void DoubtBook::note_attached(const NodeId& node, const NodeHoldings& holdings,
                              const std::vector<LiveTaskPtr>& doubtful) {
  has_spoken_.insert(node);
  for (const auto& task : doubtful) {
    if (holdings.may_be_more || holdings.holds(task->row)) {
      claims_[task->row.id].insert(node);
    } else if (const auto claims = claims_.find(task->row.id); claims != claims_.end()) {
      claims->second.erase(node);
    }
  }
}

std::optional<Waiting> DoubtBook::why_waiting(const LiveTask& task, const NodeFacts& node) const {
  const auto waiting = [&node](const char* reason) {
    return Waiting{node.id, node.name, ErrorCode::hub_restored, reason};
  };
  const auto claims = claims_.find(task.row.id);
  if (claims != claims_.end() && claims->second.contains(node.id)) {
    return waiting("it says that it has the task, and has not handed it over yet");
  }
  if (has_spoken_.contains(node.id)) return std::nullopt;
  return waiting(
      "the hub was restored from a backup, and this node has not said yet whether it has the task");
}

}  // namespace outhaul::hub
