#include "hub/tasks/task_rows.h"

namespace outhaul::hub {
namespace {

constexpr Duration retry_interval = std::chrono::seconds(1);

Result<std::optional<TaskId>> find_earlier(store::Transaction& tx, const store::IdempotencyRow& key) {
  OUTHAUL_TRY(found, tx.idempotency.find(key.owner, key.key, key.created_at));
  if (!found) return std::optional<TaskId>();
  if (found->request_hash != key.request_hash) {
    return fail(ErrorCode::idempotency_mismatch, "this Idempotency-Key came before with another request");
  }
  return std::optional<TaskId>(found->task);
}

// An end, or the stream that ends with it: what came first stays.
bool is_there_already(const Error& error) { return error.code() == ErrorCode::conflict; }

Result<void> settle(store::Transaction& tx, const store::TaskRow& row) {
  const auto settled =
      tx.tasks.settle_doubt(row.id, row.node, row.envelope, row.times.accepted_at.value_or(WallTime()));
  if (!settled && !is_there_already(settled.error())) return settled;
  return {};
}

// A task that was sent before its row was durable may have failed to be saved and come back by adoption.
Result<void> write_end(store::Transaction& tx, const store::TaskRow& row, const TaskRows::End& end) {
  if (row.is_in_doubt && !row.node.is_empty()) OUTHAUL_CHECK(settle(tx, row));
  const auto finished = tx.tasks.finish(row.id, end.end);
  if (!finished && finished.error().code() == ErrorCode::not_found) {
    OUTHAUL_CHECK(tx.tasks.add(row));
  } else if (!finished && !is_there_already(finished.error())) {
    return finished;
  }
  if (end.stream) {
    const auto added = tx.streams.add(*end.stream, end.records);
    if (!added && !is_there_already(added.error())) return added;
  }
  if (row.node.is_empty()) return {};
  store::NodeCounters counters;
  counters.tasks_finished = end.end.state == store::TaskState::finished ? 1 : 0;
  counters.tasks_lost = end.end.state == store::TaskState::lost ? 1 : 0;
  counters.tasks_failed = end.end.state == store::TaskState::failed ? 1 : 0;
  return tx.nodes.count(row.node, counters);
}

}  // namespace

TaskRows::TaskRows(const HubPorts& ports)
    : clock_(ports.clock), database_(ports.database), log_(ports.log), writes_(ports.executor) {}

Task<Result<std::optional<TaskId>>> TaskRows::add(LiveTaskPtr task,
                                                  std::optional<store::IdempotencyRow> key) {
  auto work = [row = task->row,
               key = std::move(key)](store::Transaction& tx) -> Result<std::optional<TaskId>> {
    if (key) {
      OUTHAUL_TRY(earlier, find_earlier(tx, *key));
      if (earlier) return earlier;
      OUTHAUL_CHECK(tx.idempotency.add(*key));
    }
    OUTHAUL_CHECK(tx.tasks.add(row));
    return std::optional<TaskId>();
  };
  OUTHAUL_CO_TRY(earlier, co_await database_.transact(std::move(work)));
  if (!earlier) task->saved.set();
  co_return earlier;
}

Task<Result<void>> TaskRows::dispatch(LiveTaskPtr task) {
  auto work = [row = task->row](store::Transaction& tx) -> Result<void> {
    OUTHAUL_TRY(found, tx.tasks.find(row.id));
    if (found && found->state == store::TaskState::dispatched) OUTHAUL_CHECK(tx.tasks.requeue(row.id));
    return tx.tasks.dispatch(row.id, row.node, row.envelope, row.times.dispatched_at.value_or(WallTime()));
  };
  co_return co_await database_.transact(std::move(work));
}

Task<Result<void>> TaskRows::request_cancel(LiveTaskPtr task) {
  auto work = [id = task->row.id, when = task->row.times.cancel_requested_at.value_or(WallTime())](
                  store::Transaction& tx) { return tx.tasks.request_cancel(id, when); };
  co_return co_await database_.transact(std::move(work));
}

template <class Work>
void TaskRows::write_later(const char* what, Work work) {
  auto write = [this, what, work = std::move(work)]() mutable -> Task<void> {
    const auto written = co_await database_.transact(std::move(work), store::Urgency::soon);
    // `conflict`: the end was written before this news, which is then worth nothing.
    if (!written && written.error().code() != ErrorCode::conflict) log_.failure(what, written.error());
  };
  writes_.spawn(std::move(write));
}

void TaskRows::note_advance(const LiveTask& task) {
  const auto& times = task.row.times;
  const auto when = (task.row.state == store::TaskState::running ? times.started_at : times.accepted_at)
                        .value_or(WallTime());
  write_later("task state not written",
              [id = task.row.id, state = task.row.state, when](store::Transaction& tx) {
                return tx.tasks.advance(id, state, when);
              });
}

void TaskRows::note_requeue(const LiveTask& task) {
  write_later("task not put back into its row's queue",
              [id = task.row.id](store::Transaction& tx) { return tx.tasks.requeue(id); });
}

void TaskRows::settle_doubt(const LiveTaskPtr& task) {
  auto write = [this, task]() -> Task<void> {
    auto work = [row = task->row](store::Transaction& tx) { return settle(tx, row); };
    const auto written = co_await database_.transact(std::move(work));
    if (written) task->row.is_in_doubt = false;
    if (!written) log_.failure("a task stays in doubt in its row", written.error());
  };
  writes_.spawn(std::move(write));
}

void TaskRows::finish(LiveTaskPtr task, End end, store::Urgency urgency, std::function<void()> done) {
  auto shared = std::make_shared<const End>(std::move(end));
  auto write = [this, task = std::move(task), shared, urgency, done = std::move(done)]() -> Task<void> {
    return finish_until_durable(task, shared, urgency, done);
  };
  writes_.spawn(std::move(write));
}

// The end is shared and not copied for each attempt: an archive may have megabytes.
Task<void> TaskRows::finish_until_durable(LiveTaskPtr task, std::shared_ptr<const End> end,
                                          store::Urgency urgency, std::function<void()> done) {
  for (bool is_first = true;; is_first = false) {
    auto work = [row = task->row, end](store::Transaction& tx) { return write_end(tx, row, *end); };
    const auto written = co_await database_.transact(std::move(work), urgency);
    if (written) break;
    if (is_first) log_.failure("end of a task not written, trying again", written.error());
    co_await clock_.sleep_for(retry_interval);
  }
  task->saved.set();
  done();
}

Task<void> TaskRows::join() {
  writes_.cancel();
  co_await writes_.join();
}

}  // namespace outhaul::hub
