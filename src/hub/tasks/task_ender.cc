#include "hub/tasks/task_ender.h"

#include "hub/streams/hub_streams.h"

namespace outhaul::hub {
namespace {

store::TaskState state_for(const wire::TaskEnd& end) {
  const auto* failed = std::get_if<wire::Failed>(&end);
  if (failed == nullptr) return store::TaskState::finished;
  switch (failed->code) {
    case ErrorCode::task_cancelled: return store::TaskState::cancelled;
    case ErrorCode::task_timed_out: return store::TaskState::timed_out;
    case ErrorCode::hub_restored:
    case ErrorCode::task_lost: return store::TaskState::lost;
    default: return store::TaskState::failed;
  }
}

// The receipt stays where the node put it, in the stream: a row is written for every task, and kept small.
Bytes without_receipt(wire::TaskResult result) {
  result.receipt.clear();
  return wire::serialise_task_result(result);
}

store::TaskEnd end_of(const wire::TaskResult& result, WallTime now) {
  store::TaskEnd end;
  end.state = state_for(result.end);
  end.result = without_receipt(result);
  end.finished_at = now;
  if (const auto* failed = std::get_if<wire::Failed>(&result.end)) {
    end.error_code = std::string(name_of(failed->code));
    end.error_message = failed->message;
  }
  return end;
}

store::TaskEnd end_of(const Error& evidence, store::TaskState state, WallTime now) {
  store::TaskEnd end;
  end.state = state;
  end.error_code = std::string(name_of(evidence.code()));
  end.error_message = evidence.what();
  for (const auto& detail : evidence.details()) end.error_message += "; " + detail.name + " " + detail.value;
  end.finished_at = now;
  return end;
}

}  // namespace

TaskEnder::TaskEnder(const HubPorts& ports, const Needs& needs)
    : clock_(ports.clock),
      log_(ports.log),
      board_(needs.board),
      rows_(needs.rows),
      streams_(needs.streams),
      registry_(needs.registry),
      audit_(needs.audit),
      endings_(ports.executor) {}

void TaskEnder::end_when_durable(const LiveTaskPtr& task) {
  endings_.spawn([this, task] { return wait_and_end(task); });
}

Task<void> TaskEnder::wait_and_end(LiveTaskPtr task) {
  if (task->is_final()) co_return;
  const auto durable = co_await streams_.durable(task->row.stream);
  if (!durable) co_return log_.failure("result not durable", durable.error());
  if (task->is_final()) co_return;
  const auto result = completing_payload(streams_, task->row.stream);
  if (!result) co_return log_.failure("result not read", result.error());
  // Audited already, unless that was before a restart or without room.
  audit_result(*task, *result);
  // Shown at once: after a restart whoever has seen it before must not see the task run again.
  auto written = end_by_node(task, *result);
  co_await write_after_audit(task, std::move(written));
}

void TaskEnder::audit_result(LiveTask& task, ByteView payload) {
  using audit::AuditAction;
  const auto& row = task.row;
  const auto result = wire::parse_task_result(payload);
  if (!result || result->task_id != row.id || task.is_result_audited) return;
  audit::AuditEntry entry(AuditAction::task_ended, row.node.text(), row.id.text());
  entry = std::move(entry).with("end", std::string(wire::state_of(result->end)));
  if (const auto* exited = std::get_if<wire::Exited>(&result->end))
    entry = std::move(entry).with("exit_code", std::to_string(exited->code));
  if (const auto* failed = std::get_if<wire::Failed>(&result->end))
    entry = std::move(entry).failed_by(Error(failed->code, failed->message));
  entry = std::move(entry).with("receipt", result->receipt.empty() ? "none" : "given");
  const auto written = audit_.log().append(std::move(entry));
  // Tried again when the result is durable.
  if (!written) return log_.failure("the end of a task is not audited", written.error());
  task.is_result_audited = true;
  // A restore holds the result and not the row that says where the task went.
  if (row.node.is_empty()) return;
  const auto* node = registry_.find(row.node);
  const auto taken =
      audit_.take_receipt(*result, row.node, node != nullptr ? node->row.signing_key : Bytes());
  if (taken) return;
  log_.failure("a receipt does not hold", taken.error());
  audit_.note(audit::AuditEntry(AuditAction::receipt_refused, row.node.text(), row.id.text())
                  .refused_by(taken.error()));
}

TaskRows::End TaskEnder::end_by_node(const LiveTaskPtr& task, ByteView payload) {
  const auto result = wire::parse_task_result(payload);
  if (result && result->task_id == task->row.id) {
    task->row.times.started_at = result->started_at;
    return end(task, end_of(*result, clock_.wall_now()));
  }
  const Error error(ErrorCode::protocol_violation, "the node's result is not one of this task");
  return end(task, end_of(error, store::TaskState::failed, clock_.wall_now()));
}

void TaskEnder::end_by_hub(const LiveTaskPtr& task, store::TaskState state, const Error& evidence) {
  if (task->is_final()) return;
  // What a node said is in the journal and will be found there again; this is nowhere but here.
  task->before_end = task->row;
  audit::AuditEntry entry(audit::AuditAction::task_ended, "hub", task->row.id.text());
  entry = std::move(entry).with("end", std::string(store::name_of(state)));
  audit_.note(std::move(entry).failed_by(evidence));
  auto written = end(task, end_of(evidence, state, clock_.wall_now()));
  endings_.spawn(
      [this, task, what = std::move(written)]() mutable { return write_after_audit(task, std::move(what)); });
}

// A row that is final will be believed after a crash: not before the entry that says why is durable.
Task<void> TaskEnder::write_after_audit(LiveTaskPtr task, TaskRows::End written) {
  const auto durable = co_await audit_.durable();
  // The hub starts again after that, and finds the task as it was.
  if (!durable) co_return log_.failure("the audit entry of an end is not durable", durable.error());
  write(task, std::move(written));
}

TaskRows::End TaskEnder::end(const LiveTaskPtr& task, store::TaskEnd end) {
  auto& row = task->row;
  board_.release(*task);
  row.state = end.state;
  row.result = end.result;
  row.error_code = end.error_code;
  row.error_message = end.error_message;
  row.times.finished_at = end.finished_at;
  task->note_change();
  task->output.pulse();
  board_.wake_dispatcher();
  log_.info("task ended",
            {{"task", row.id.text()}, {"state", store::name_of(row.state)}, {"code", row.error_code}});
  return place_of_stream(*task, std::move(end));
}

void TaskEnder::write(const LiveTaskPtr& task, TaskRows::End written) {
  const bool is_archived = written.stream && written.stream->place == store::StreamPlace::archived;
  auto done = [this, task, is_archived] {
    show_end(*task);
    forget(*task, is_archived);
  };
  // Whoever waits for an end that is in the journal has seen it already.
  const auto urgency = task->before_end ? store::Urgency::now : store::Urgency::soon;
  rows_.finish(task, std::move(written), urgency, std::move(done));
}

void TaskEnder::show_end(LiveTask& task) {
  if (!task.before_end) return;
  task.before_end.reset();
  task.note_change();
  task.output.pulse();
}

// The journal can forget a small stream once its records are in the row; a large one stays where it is.
TaskRows::End TaskEnder::place_of_stream(const LiveTask& task, store::TaskEnd end) const {
  TaskRows::End written{std::move(end), std::nullopt, {}};
  const auto totals = streams_.find(task.row.stream);
  if (!totals || !totals->complete) return written;
  store::StreamRow stream{task.row.stream,
                          task.row.id,
                          store::StreamPlace::segments,
                          totals->incarnation.bytes(),
                          totals->end,
                          written.end.finished_at};
  if (auto records = streams_.take_small(task.row.stream);
      records && records->size() <= store::max_archived_bytes) {
    stream.place = store::StreamPlace::archived;
    written.records = std::move(*records);
  }
  written.stream = std::move(stream);
  return written;
}

void TaskEnder::forget(const LiveTask& task, bool is_archived) {
  const auto report = [this](const Result<void>& forgotten) {
    if (!forgotten && forgotten.error().code() != ErrorCode::not_found) {
      log_.failure("finished stream not forgotten", forgotten.error());
    }
  };
  if (is_archived) report(streams_.forget(task.row.stream));
  if (!task.row.stdin_stream.is_empty()) report(streams_.forget(task.row.stdin_stream));
  board_.remove(task.row.id);
}

Task<void> TaskEnder::join() {
  endings_.cancel();
  co_await endings_.join();
}

wire::TaskResult result_of(const store::TaskRow& row) {
  wire::TaskResult result;
  result.task_id = row.id;
  result.end = wire::Failed{find_error_code(row.error_code).value_or(ErrorCode::internal), row.error_message};
  result.started_at = row.times.started_at;
  result.ended_at = row.times.finished_at.value_or(WallTime());
  return result;
}

}  // namespace outhaul::hub
