// TaskQueue: the tasks that wait for a node. Those that need the same of a node stand behind each other, so
// that a long queue costs a look at each need and not at each task. Nothing here does I/O.
//   runs on  the hub's strand
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "hub/tasks/selector.h"

namespace outhaul::hub {

struct LiveTask;
using LiveTaskPtr = std::shared_ptr<LiveTask>;

class TaskQueue {
 public:
  // While a task is here neither its selector, nor what it needs, nor its deadline changes.
  void add(LiveTaskPtr task);
  // One that is not here: nothing.
  void remove(const LiveTask& task);

  bool is_empty() const { return deadlines_.empty(); }
  std::size_t size() const { return deadlines_.size(); }
  // Of each need the oldest task whose row is durable, by age: ids sort by their time.
  std::map<TaskId, LiveTaskPtr> heads() const;
  // The one that heads() would give for the need of `task`; null when there is none.
  LiveTaskPtr head_like(const LiveTask& task) const;

  // TimePoint::max() when nothing waits.
  TimePoint next_deadline() const;
  // Those whose deadline is not after `now`.
  std::vector<LiveTaskPtr> overdue(TimePoint now) const;

 private:
  struct Need {
    Selector selector;
    TaskNeeds needs;
    auto operator<=>(const Need&) const = default;
  };
  using Line = std::map<TaskId, LiveTaskPtr>;
  static Need need_of(const LiveTask& task);
  static LiveTaskPtr head_of(const Line& line);

  std::map<Need, Line> lines_;  // none is empty
  std::map<std::pair<TimePoint, TaskId>, LiveTaskPtr> deadlines_;
};

}  // namespace outhaul::hub
