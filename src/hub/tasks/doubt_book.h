// DoubtBook: what nodes have said, since this hub started, of the tasks that a restore put in doubt. Such a
// task was queued in the backup; since then it may have been sent to any node, and may have run and been
// forgotten there. It is never sent again: it waits until a node hands it over, or until every node has said
// that it does not hold it (docs/decisions/0111-*.md). Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "hub/tasks/live_task.h"
#include "outhaul/v1/session.pb.h"

namespace outhaul::hub {

// Every task that the node says it has: not ended, or ended with a stream that we have not acknowledged.
struct NodeHoldings {
  explicit NodeHoldings(const v1::Hello& hello);
  bool holds(const store::TaskRow& row) const {
    return tasks.contains(row.id.text()) || streams.contains(row.stream.text());
  }

  std::set<std::string, std::less<>> tasks;
  std::set<std::string, std::less<>> streams;
  bool may_be_more = false;  // the list was as long as a Hello takes
};

class DoubtBook {
 public:
  // A node has attached with these holdings.
  void note_attached(const NodeId& node, const NodeHoldings& holdings,
                     const std::vector<LiveTaskPtr>& doubtful);
  // Nobody waits for this node any more.
  void note_given_up(const NodeId& node) { has_spoken_.insert(node); }
  // Why the node may yet hold the task; empty: it does not.
  std::optional<Waiting> why_waiting(const LiveTask& task, const NodeFacts& node) const;
  void forget(const TaskId& task) { claims_.erase(task); }

 private:
  std::set<NodeId> has_spoken_;
  // By task: the nodes that named it and have not proven it by its envelope yet.
  std::map<TaskId, std::set<NodeId>> claims_;
};

}  // namespace outhaul::hub
