// LiveTask: one task that has not ended, or whose end is not yet in its row, as the hub's memory has it.
// TaskBoard: all of them, by every name that somebody asks for. Nothing here does I/O.
//   runs on  the hub's strand
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "hub/tasks/selector.h"
#include "hub/tasks/task_queue.h"
#include "store/task_store.h"
#include "wire/task_spec.h"

namespace outhaul::hub {

struct CancelWish {
  int signal = 15;
  std::chrono::nanoseconds grace = std::chrono::seconds(10);
  AccountId by = {};  // who asked; empty: not known any more
};

struct LiveTask {
  explicit LiveTask(const Executor& executor)
      : changed(executor), ended(executor), output(executor), saved(executor) {}

  store::TaskRow row;  // as it is now; the database follows
  // Set while an end that the hub itself decided is not in the database: a crash would undo it.
  std::optional<store::TaskRow> before_end;
  wire::TaskSpec spec;  // what is signed at dispatch; audience, times and nonce are set then
  Selector selector;
  TimePoint queue_deadline = TimePoint::max();
  std::optional<CancelWish> cancel;
  bool was_resigned = false;       // a node found an envelope expired on arrival; once is enough
  bool is_resume_due = false;      // adopted over a session that knew nothing of it when it began
  bool is_running_saved = false;   // that it runs is on its way into the row
  bool is_result_audited = false;  // in this life of the hub
  bool is_commit_pending = false;  // node and envelope are on their way into the row; nothing may be sent yet
  Event changed;                   // pulsed at every change of `row`
  Event ended;                     // set once others are told of its end
  Event output;                    // pulsed when its output stream has more, or will have no more
  Event saved;                     // set once the row is durable

  // Of the node that runs it, beside the selector.
  TaskNeeds needs() const { return {spec.isolation, !spec.user_order.empty()}; }
  bool is_final() const { return store::is_final(row.state); }
  // What others are told of it: never an end that may not stay.
  const store::TaskRow& shown() const { return before_end ? *before_end : row; }
  bool is_shown_final() const { return store::is_final(shown().state); }
  void note_change() {
    changed.pulse();
    if (is_shown_final()) ended.set();
  }
  // A restore found it queued, so that any node may have it by now; it is not sent.
  bool is_doubtful() const { return row.is_in_doubt && row.state == store::TaskState::queued; }
  bool is_on_node() const { return !row.node.is_empty() && !is_final(); }
};
// LiveTaskPtr is shared by the board, by sessions that deliver to or receive from it, and by requests that
// wait for it; any of them may be the last to look at the end.

class TaskBoard {
 public:
  explicit TaskBoard(const Executor& executor) : dispatch_due_(executor) {}

  // The task's id and streams are new to the board.
  void add(LiveTaskPtr task);
  // The row has its end; later readers ask the database.
  void remove(const TaskId& id);
  LiveTaskPtr find(const TaskId& id) const;  // null when it is not live
  // By its output or its input stream.
  LiveTaskPtr find_by_stream(const StreamId& stream) const;

  // Binds it to a node, or takes it back into the queue (empty node). The row's state is the caller's to set
  // first.
  void move(const LiveTaskPtr& task, const NodeId& node);
  // It has ended: it takes no slot and no place in the queue any more.
  void release(LiveTask& task);

  std::size_t size() const { return tasks_.size(); }
  // Dispatched to the node and not ended.
  std::uint32_t live_on(const NodeId& node) const;
  std::vector<LiveTaskPtr> on_node(const NodeId& node) const;
  const TaskQueue& queue() const { return queue_; }
  // Those that wait for what nodes say of them, and stand in no queue. Oldest first.
  std::vector<LiveTaskPtr> doubtful() const;
  // A queued task might find a place now: a slot came free, a node came, a task was saved. Wakes nobody while
  // nothing waits.
  void wake_dispatcher();
  Event& dispatch_due() { return dispatch_due_; }

 private:
  std::map<TaskId, LiveTaskPtr> tasks_;
  std::map<StreamId, TaskId> by_stream_;
  std::map<NodeId, std::set<TaskId>> by_node_;
  TaskQueue queue_;
  std::map<TaskId, LiveTaskPtr> doubtful_;
  Event dispatch_due_;
};

}  // namespace outhaul::hub
