// Tasks as the hub knows them, from the submission to the result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "store/page.h"

namespace outhaul::store {

// In the order in which a task goes through them. From `finished` on a state is final.
enum class TaskState {
  queued = 0,      // durable in the hub, waits for a node
  dispatched = 1,  // signed for one node and sent
  accepted = 2,    // durable on the node
  running = 3,
  finished = 4,  // the process ended by itself: exit code or signal
  failed = 5,    // it never ran, or Outhaul ended it; error_code holds
  cancelled = 6,
  timed_out = 7,
  lost = 8,  // it started; the record of its end was destroyed
};
constexpr bool is_final(TaskState state) { return state >= TaskState::finished; }
// "queued": the word in the API and in filters.
std::string_view name_of(TaskState state);
std::optional<TaskState> find_task_state(std::string_view name);

struct TaskTimes {
  WallTime created_at;
  std::optional<WallTime> dispatched_at;
  std::optional<WallTime> accepted_at;
  std::optional<WallTime> started_at;
  std::optional<WallTime> finished_at;
  std::optional<WallTime> queue_deadline;
  std::optional<WallTime> cancel_requested_at;
  bool operator==(const TaskTimes&) const = default;
};

// How a task ended.
struct TaskEnd {
  TaskState state = TaskState::finished;  // a final one
  Bytes result;                           // serialised TaskResult; empty when no node gave one
  std::string error_code;                 // empty, or a stable code
  std::string error_message;
  WallTime finished_at;
  bool operator==(const TaskEnd&) const = default;
};

struct TaskRow {
  TaskId id;
  AccountId owner;
  NodeId node;  // empty until dispatched
  TaskState state = TaskState::queued;
  std::string selector_json;
  std::string action_summary;  // for lists; the caller cuts it
  Bytes spec;                  // serialised TaskSpec as submitted, not yet signed
  Bytes envelope;              // serialised Envelope; empty until dispatched
  StreamId stream;
  StreamId stdin_stream;  // empty: no input
  TaskTimes times;
  std::string traceparent;
  // The hub was restored from a backup that holds the task unfinished, and no node has said since what became
  // of it.
  bool is_in_doubt = false;
  // Of the end; empty before.
  Bytes result;
  std::string error_code;
  std::string error_message;
  bool operator==(const TaskRow&) const = default;
};

// Empty fields match everything.
struct TaskFilter {
  AccountId owner;
  NodeId node;
  std::optional<TaskState> state;
};

class TaskReader {
 public:
  virtual ~TaskReader() = default;
  virtual Result<std::optional<TaskRow>> find(const TaskId& id) = 0;
  // By its output stream or its input stream.
  virtual Result<std::optional<TaskRow>> find_by_stream(const StreamId& stream) = 0;
  // Newest first. The large fields (spec, envelope) are left empty.
  virtual Result<Page<TaskRow>> list(const TaskFilter& filter, const PageRequest& page) = 0;
  // Complete rows that are in no final state, oldest first; of every node when `node` is empty.
  // Unbounded: for a restart, whose caller bounds how many tasks it lets in.
  virtual Result<std::vector<TaskRow>> unfinished(const NodeId& node) = 0;
};

// Every change of an id that does not exist is `not_found`, of one in a final state `conflict`.
class TaskStore : public TaskReader {
 public:
  // In any state (a hub adopts a task that it signed and does not know). conflict: another task has the
  // id, the output stream or the input stream.
  virtual Result<void> add(const TaskRow& task) = 0;
  // Binds a queued task to the node that `envelope` is signed for. conflict: no longer queued.
  virtual Result<void> dispatch(const TaskId& id, const NodeId& node, const Bytes& envelope,
                                WallTime when) = 0;
  // To `accepted` or `running` (anything else is `invalid`); notes the time. A state only rises: news
  // that is late changes no state, and the first time stands.
  virtual Result<void> advance(const TaskId& id, TaskState state, WallTime when) = 0;
  // The node refused a dispatched task without consuming it: node and envelope are forgotten.
  // conflict: not in state dispatched.
  virtual Result<void> requeue(const TaskId& id) = 0;
  // Idempotent: the first time stands.
  virtual Result<void> request_cancel(const TaskId& id, WallTime when) = 0;
  virtual Result<void> finish(const TaskId& id, const TaskEnd& end) = 0;
  // Puts every unfinished task in doubt; one that was dispatched is queued again, for it may have been sent
  // elsewhere. Gives how many tasks are in doubt. For a restore.
  virtual Result<std::uint64_t> doubt_unfinished() = 0;
  // This node holds the task: out of doubt, and `accepted` there at least. conflict: it was not in doubt.
  virtual Result<void> settle_doubt(const TaskId& id, const NodeId& node, const Bytes& envelope,
                                    WallTime when) = 0;
};

}  // namespace outhaul::store
