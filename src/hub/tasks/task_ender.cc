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
    case ErrorCode::task_lost: return store::TaskState::lost;
    default: return store::TaskState::failed;
  }
}

store::TaskEnd end_of(const wire::TaskResult& result, ByteView payload, WallTime now) {
  store::TaskEnd end;
  end.state = state_for(result.end);
  end.result = Bytes(payload);
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

TaskEnder::TaskEnder(const HubPorts& ports, TaskBoard& board, TaskRows& rows, stream::StreamStore& streams)
    : clock_(ports.clock),
      log_(ports.log),
      board_(board),
      rows_(rows),
      streams_(streams),
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
  end_by_node(task, *result);
}

void TaskEnder::end_by_node(const LiveTaskPtr& task, ByteView payload) {
  const auto result = wire::parse_task_result(payload);
  if (result && result->task_id == task->row.id) {
    task->row.times.started_at = result->started_at;
    return end(task, end_of(*result, payload, clock_.wall_now()));
  }
  const Error error(ErrorCode::protocol_violation, "the node's result is not one of this task");
  end(task, end_of(error, store::TaskState::failed, clock_.wall_now()));
}

void TaskEnder::end_by_hub(const LiveTaskPtr& task, store::TaskState state, const Error& evidence) {
  if (task->is_final()) return;
  // What a node said is in the journal and will be found there again; this is nowhere but here.
  task->before_end = task->row;
  end(task, end_of(evidence, state, clock_.wall_now()));
}

void TaskEnder::end(const LiveTaskPtr& task, store::TaskEnd end) {
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
  auto written = place_of_stream(*task, std::move(end));
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
