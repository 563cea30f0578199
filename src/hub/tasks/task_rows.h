// TaskRows: writes what happened to live tasks into the database, in the order in which it happened.
//   runs on  the hub's strand
#pragma once

#include <functional>
#include <optional>

#include "base/task_group.h"
#include "hub/hub_ports.h"
#include "hub/tasks/live_task.h"
#include "store/database.h"

namespace outhaul::hub {

class TaskRows {
 public:
  explicit TaskRows(const HubPorts& ports);

  // Completes when the row is durable and `task->saved` is set. With a key whose row exists already nothing
  // is added and the earlier task's id is given; idempotency_mismatch when that was another request.
  Task<Result<std::optional<TaskId>>> add(LiveTaskPtr task, std::optional<store::IdempotencyRow> key);
  // Node and envelope of a task that was queued, or is signed again, are durable.
  Task<Result<void>> dispatch(LiveTaskPtr task);
  // The wish to cancel is durable.
  Task<Result<void>> request_cancel(LiveTaskPtr task);

  // Not waited for: after a crash the node says the same again.
  void note_advance(const LiveTask& task);
  void note_requeue(const LiveTask& task);
  // A node has handed over a task that was in doubt. Written again with its end if this write fails.
  void settle_doubt(const LiveTaskPtr& task);
  // The end, and the stream's place. Tried again until it is durable; then `done` is called.
  struct End {
    store::TaskEnd end;
    std::optional<store::StreamRow> stream;
    Bytes records;  // of an archived stream
  };
  void finish(LiveTaskPtr task, End end, store::Urgency urgency, std::function<void()> done);

  // Cancels what is being tried again and waits for the rest.
  Task<void> join();

 private:
  template <class Work>
  void write_later(const char* what, Work work);
  Task<void> finish_until_durable(LiveTaskPtr task, std::shared_ptr<const End> end, store::Urgency urgency,
                                  std::function<void()> done);

  AsyncClock& clock_;
  store::Database& database_;
  const Log& log_;
  TaskGroup writes_;
};

}  // namespace outhaul::hub
