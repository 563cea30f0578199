// TaskService: tasks from the order to the result, below HTTP and above sessions. What the interface and the
// simulation use. Live tasks are kept in memory over their rows; ended ones are read from the database.
//   runs on  the hub's strand
#pragma once

#include <optional>
#include <vector>

#include "hub/audit/hub_audit.h"
#include "hub/hub_ports.h"
#include "hub/hub_settings.h"
#include "hub/streams/stdin_inlet.h"
#include "hub/tasks/dispatcher.h"
#include "hub/tasks/live_task.h"
#include "hub/tasks/task_ender.h"
#include "hub/tasks/task_order.h"
#include "hub/tasks/task_rows.h"
#include "store/database.h"

namespace outhaul::hub {

struct Submission {
  TaskId task;
  StreamId stream;
  bool is_repeat = false;  // an idempotency key named a task that exists already
};

class TaskService {
 public:
  static constexpr std::chrono::hours idempotency_lifetime{24};
  // After a restart nodes need a moment to attach: no queued task is given up before.
  static constexpr Duration restart_grace = std::chrono::seconds(60);

  struct Needs {
    const HubSettings& settings;
    NodeRegistry& registry;
    TaskBoard& board;
    TaskRows& rows;
    TaskEnder& ender;
    Dispatcher& dispatcher;
    Courier& courier;
    StdinInlet& stdin_inlet;
    stream::StreamStore& streams;
    HubAudit& audit;
  };
  TaskService(const HubPorts& ports, const Needs& needs);

  // Reads back every task that has not ended. Ends those whose result is complete in the streams, which are
  // recovered already. Errors of the database.
  Task<Result<void>> recover(const stream::StreamStore& streams);
  // From now on submit() fails with `draining`.
  void begin_drain() { is_draining_ = true; }

  // Completes when the order is durable here; it may have been sent to a node before that.
  //   errors  invalid, task_too_large: see wire/task_spec.h. not_found: the selector names a node that is not
  //           enrolled. exhausted: max_live_tasks. draining. idempotency_mismatch. Those of the database:
  //           nothing was promised, and what was sent already is cancelled
  Task<Result<Submission>> submit(TaskOrder order, std::optional<IdempotencyKey> key = std::nullopt);

  // The row as it is now, with its result once it has ended. not_found.
  Task<Result<store::TaskRow>> load(TaskId id);
  // The row once it is final, or as it is at `deadline`.
  Task<Result<store::TaskRow>> wait_ended(TaskId id, TimePoint deadline);
  // The row once its state is another than `seen`; at once when it is final.
  Task<Result<store::TaskRow>> wait_change(TaskId id, std::optional<store::TaskState> seen);
  Task<Result<store::Page<store::TaskRow>>> list(store::TaskFilter filter, store::PageRequest page);
  // Per node, why this queued task does not run there; empty for one that does not wait.
  std::vector<Waiting> waiting(const TaskId& id) const;

  // The wish is durable when this completes; it is sent again after each reconnection until the task has
  // ended. A queued task ends at once, an ended one stays as it is. Gives the row. not_found.
  Task<Result<store::TaskRow>> cancel(TaskId id, CancelWish wish);
  // Errors as StdinInlet::append().
  Task<Result<stream::StreamPosition>> append_stdin(TaskId id, StdinInlet::Piece piece);

 private:
  Result<LiveTaskPtr> make_task(TaskOrder order);
  store::IdempotencyRow key_row(const LiveTask& task, IdempotencyKey key) const;
  Task<Result<Submission>> start(LiveTaskPtr task);
  Task<Result<Submission>> start_once(LiveTaskPtr task, IdempotencyKey key);
  Result<void> audit_submission(const LiveTask& task, bool is_recovered);
  void give_up(const LiveTaskPtr& task);
  Result<LiveTaskPtr> revive(store::TaskRow row);

  Executor executor_;
  AsyncClock& clock_;
  Random& random_;
  store::Database& database_;
  const Log& log_;
  Needs needs_;
  bool is_draining_ = false;
};

}  // namespace outhaul::hub
