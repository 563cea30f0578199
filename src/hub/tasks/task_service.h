// TaskService: tasks from the order to the result, below HTTP and above sessions. What the interface and the
// simulation use. Live tasks are kept in memory over their rows; ended ones are read from the database.
//   runs on  the hub's strand
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hub/tasks/live_task.h"
#include "hub/tasks/task_order.h"
#include "hub/tasks/task_parts.h"
#include "store/task_store.h"

namespace outhaul::hub {

struct Submission {
  TaskId task;
  StreamId stream;
  std::optional<StreamId> stdin_stream;
  bool is_repeat = false;  // an idempotency key named a task that exists already
};

struct CancelWish {
  int signal = 15;
  std::chrono::nanoseconds grace = std::chrono::seconds(10);
};

class TaskService {
 public:
  // Parts are the pieces that tasks/ is made of; they outlive the service.
  explicit TaskService(TaskParts& parts) : parts_(parts) {}

  // Completes when the order is durable here; it may have been sent to a node before that.
  //   errors  invalid, task_too_large: see wire/task_spec.h. not_found: the selector names a node that is not
  //           enrolled. exhausted: max_live_tasks. draining. idempotency_mismatch. Those of the database; the
  //           order may then still run and is ended if it does
  Task<Result<Submission>> submit(TaskOrder order, std::optional<IdempotencyKey> key = std::nullopt);

  // The row as it is now, with its result once it has ended. not_found.
  Task<Result<store::TaskRow>> load(TaskId id);
  // The row once it is final, or as it is at `deadline`.
  Task<Result<store::TaskRow>> wait_ended(TaskId id, TimePoint deadline);
  // Completes when the row is in another state than `seen`, with the row. An ended task gives it at once.
  Task<Result<store::TaskRow>> wait_change(TaskId id, store::TaskState seen);
  Task<Result<store::Page<store::TaskRow>>> list(store::TaskFilter filter, store::PageRequest page);
  // Per node, why this queued task does not run there; empty for one that does not wait.
  std::vector<Waiting> waiting(const TaskId& id) const;

  // The wish is durable when this completes; it is sent again after each reconnection until the task has ended.
  // A queued task ends at once, an ended one stays as it is. Gives the row.
  Task<Result<store::TaskRow>> cancel(TaskId id, CancelWish wish);

 private:
  Task<Result<std::optional<Submission>>> find_repeat(AccountId owner, IdempotencyKey key);
  Task<Result<Submission>> start(LiveTaskPtr task, std::optional<IdempotencyKey> key);

  TaskParts& parts_;
};

}  // namespace outhaul::hub
