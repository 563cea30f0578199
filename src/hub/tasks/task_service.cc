#include "hub/tasks/task_service.h"

#include "base/within.h"
#include "hub/tasks/task_adoption.h"

namespace outhaul::hub {
namespace {

constexpr Duration cancel_answer_limit = std::chrono::seconds(5);

wire::TaskSpec spec_of(TaskOrder order, const HubSettings& settings) {
  wire::TaskSpec spec;
  spec.issuer = settings.deployment;
  spec.audience = unassigned_node();
  spec.owner = std::move(order.owner);
  spec.nonce = Bytes(wire::task_nonce_bytes, '\0');
  spec.workspace = std::move(order.workspace);
  spec.action = std::move(order.action);
  spec.cwd = std::move(order.cwd);
  spec.env = std::move(order.env);
  spec.timeout = order.timeout;
  spec.isolation = order.isolation;
  spec.term_grace = order.term_grace.value_or(settings.term_grace);
  spec.trace = std::move(order.trace);
  spec.is_interactive = order.is_interactive;
  spec.user_order = std::move(order.user_order);
  return spec;
}

store::TaskRow row_of(const wire::TaskSpec& spec, const Selector& selector) {
  store::TaskRow row;
  row.id = spec.task_id;
  row.owner = spec.owner;
  row.selector_json = selector_json(selector);
  row.action_summary = action_summary(spec.action);
  row.spec = wire::serialise_task_spec(spec);
  row.stream = spec.stream_id;
  row.stdin_stream = spec.stdin_stream_id.value_or(StreamId());
  row.times.created_at = spec.issued_at;
  if (spec.trace) row.traceparent = spec.trace->text();
  return row;
}

Submission submission_of(const store::TaskRow& row) { return {row.id, row.stream, false}; }

}  // namespace

TaskService::TaskService(const HubPorts& ports, const Needs& needs)
    : executor_(ports.executor),
      clock_(ports.clock),
      random_(ports.random),
      database_(ports.database),
      log_(ports.log),
      needs_(needs) {}

Task<Result<Submission>> TaskService::submit(TaskOrder order, std::optional<IdempotencyKey> key) {
  if (is_draining_) co_return fail(ErrorCode::draining, "the hub takes no new work");
  if (needs_.board.size() >= needs_.settings.max_live_tasks) {
    co_return fail(ErrorCode::exhausted, "too many tasks have not ended yet");
  }
  // Its output could not be taken, and everybody would wait for a disk that nobody knows is full.
  OUTHAUL_CO_CHECK(needs_.streams.check_room(stream::max_record_bytes));
  OUTHAUL_CO_TRY(task, make_task(std::move(order)));
  if (key) co_return co_await start_once(std::move(task), std::move(*key));
  co_return co_await start(std::move(task));
}

Result<LiveTaskPtr> TaskService::make_task(TaskOrder order) {
  if (!order.selector.node.empty() && needs_.registry.find_by_text(order.selector.node) == nullptr) {
    return fail(ErrorCode::not_found, "no such node");
  }
  const auto now = clock_.wall_now();
  const auto queue_timeout = order.queue_timeout.value_or(needs_.settings.queue_timeout);
  const bool has_stdin = order.has_stdin;
  auto task = std::make_shared<LiveTask>(executor_);
  task->selector = std::move(order.selector);
  auto& spec = task->spec = spec_of(std::move(order), needs_.settings);
  spec.task_id = TaskId::make(now, random_);
  spec.stream_id = StreamId::make(now, random_);
  if (has_stdin) spec.stdin_stream_id = StreamId::make(now, random_);
  if (!spec.trace) spec.trace = wire::TraceContext::make(random_);
  spec.issued_at = now;
  spec.expires_at = now + needs_.settings.envelope_lifetime;
  OUTHAUL_CHECK(wire::check_task_spec(spec));
  OUTHAUL_CHECK(needs_.dispatcher.check_signature(*task));
  task->row = row_of(spec, task->selector);
  if (task->row.spec.size() + wire::task_payload_type.size() + 256 > wire::max_envelope_bytes) {
    return fail(Error(ErrorCode::task_too_large, "the task is larger than what can be signed")
                    .with("limit_bytes", std::to_string(wire::max_envelope_bytes)));
  }
  task->row.times.queue_deadline = now + queue_timeout;
  task->queue_deadline = clock_.now() + queue_timeout;
  if (has_stdin) OUTHAUL_CHECK(needs_.stdin_inlet.create(*spec.stdin_stream_id, random_));
  return task;
}

// Sent while its row is being written: nobody has been told of it yet, and if the row is lost the node's
// stream brings the task back.
Task<Result<Submission>> TaskService::start(LiveTaskPtr task) {
  OUTHAUL_CO_CHECK(audit_submission(*task, false));
  needs_.board.add(task);
  needs_.dispatcher.place_fresh(task);
  const auto submission = submission_of(task->row);
  const auto added = co_await needs_.rows.add(task, std::nullopt);
  if (!added) {
    give_up(task);
    co_return fail(added.error());
  }
  needs_.board.wake_dispatcher();
  co_return submission;
}

// A key promises that the order acts once, so the row comes first.
Task<Result<Submission>> TaskService::start_once(LiveTaskPtr task, IdempotencyKey key) {
  OUTHAUL_CO_TRY(earlier, co_await needs_.rows.add(task, key_row(*task, std::move(key))));
  if (earlier) {
    OUTHAUL_CO_TRY(row, co_await load(*earlier));
    auto submission = submission_of(row);
    submission.is_repeat = true;
    co_return submission;
  }
  // The row is there, and recover() would write this again.
  const auto audited = audit_submission(*task, false);
  if (!audited) log_.failure("a submission is not audited", audited.error());
  needs_.board.add(task);
  needs_.board.wake_dispatcher();
  co_return submission_of(task->row);
}

// Not awaited: the row is in the database, and after a crash that took the entry recover() writes it again.
Result<void> TaskService::audit_submission(const LiveTask& task, bool is_recovered) {
  const auto& row = task.row;
  audit::AuditEntry entry(audit::AuditAction::task_submitted, row.owner.text(), row.id.text());
  if (!row.traceparent.empty()) entry = std::move(entry).with("traceparent", row.traceparent);
  if (is_recovered) entry = std::move(entry).with("written", "again, after a restart");
  return needs_.audit.log().append(std::move(entry));
}

store::IdempotencyRow TaskService::key_row(const LiveTask& task, IdempotencyKey key) const {
  store::IdempotencyRow row;
  row.owner = task.row.owner;
  row.key = std::move(key.key);
  row.request_hash = std::move(key.request_hash);
  row.task = task.row.id;
  row.created_at = task.row.times.created_at;
  row.expires_at = row.created_at + idempotency_lifetime;
  return row;
}

// Its row could not be written. A node that has it already is asked to end it; should it run to its end all
// the same, its stream brings it back as what it is.
void TaskService::give_up(const LiveTaskPtr& task) {
  if (auto* link = needs_.registry.link_of(task->row.node)) needs_.courier.send_cancel(*task, *link);
  task->row.state = store::TaskState::failed;
  task->note_change();
  task->saved.set();
  needs_.board.remove(task->row.id);
  needs_.board.wake_dispatcher();
}

Task<Result<store::TaskRow>> TaskService::load(TaskId id) {
  if (const auto task = needs_.board.find(id)) co_return task->shown();
  auto work = [id](store::ReadTransaction& tx) { return tx.tasks.find(id); };
  OUTHAUL_CO_TRY(row, co_await database_.read(std::move(work)));
  if (!row) co_return fail(ErrorCode::not_found, "no such task");
  co_return std::move(*row);
}

Task<Result<store::TaskRow>> TaskService::wait_ended(TaskId id, TimePoint deadline) {
  const auto task = needs_.board.find(id);
  if (!task) co_return co_await load(id);
  // One wait for the whole life: each that is cancelled costs an exception.
  if (!task->is_shown_final()) co_await within(clock_, deadline, task->ended.wait());
  co_return task->shown();
}

Task<Result<store::TaskRow>> TaskService::wait_change(TaskId id, std::optional<store::TaskState> seen) {
  const auto task = needs_.board.find(id);
  if (!task) co_return co_await load(id);
  while (task->shown().state == seen && !task->is_shown_final()) co_await task->changed.wait_pulse();
  co_return task->shown();
}

Task<Result<store::Page<store::TaskRow>>> TaskService::list(store::TaskFilter filter,
                                                            store::PageRequest page) {
  auto work = [filter, page = std::move(page)](store::ReadTransaction& tx) {
    return tx.tasks.list(filter, page);
  };
  const auto wanted = filter.state;
  OUTHAUL_CO_TRY(page_read, co_await database_.read(std::move(work)));
  // Rows follow a moment later than what everybody else is told.
  for (auto& row : page_read.rows) {
    if (store::is_final(row.state)) continue;
    OUTHAUL_CO_TRY(now, co_await load(row.id));
    row = std::move(now);
  }
  std::erase_if(page_read.rows, [wanted](const auto& row) { return wanted && row.state != *wanted; });
  co_return page_read;
}

std::vector<Waiting> TaskService::waiting(const TaskId& id) const {
  const auto task = needs_.board.find(id);
  return task ? needs_.dispatcher.waiting(*task) : std::vector<Waiting>();
}

Task<Result<store::TaskRow>> TaskService::cancel(TaskId id, CancelWish wish) {
  const auto task = needs_.board.find(id);
  if (!task || task->is_final()) co_return co_await load(id);
  co_await task->saved.wait();
  task->cancel = wish;
  if (!task->row.times.cancel_requested_at) task->row.times.cancel_requested_at = clock_.wall_now();
  const auto written = co_await needs_.rows.request_cancel(task);
  OUTHAUL_CO_CHECK(
      co_await needs_.audit.write({audit::AuditAction::task_cancelled, wish.by.text(), id.text()}));
  // `conflict`: it ended meanwhile.
  if (!written && written.error().code() != ErrorCode::conflict) co_return fail(written.error());
  if (task->row.state == store::TaskState::queued) {
    const Error reason(ErrorCode::task_cancelled, "cancelled before it was sent to a node");
    needs_.ender.end_by_hub(task, store::TaskState::cancelled, reason);
    // The wish is durable already: whoever gets no answer in time sees it in the row.
    co_return co_await wait_ended(id, clock_.now() + cancel_answer_limit);
  } else if (!task->is_final() && task->row.state != store::TaskState::dispatched) {
    // One that is dispatched hears it after its acknowledgement: sent now, it might arrive before the task.
    if (auto* link = needs_.registry.link_of(task->row.node)) needs_.courier.send_cancel(*task, *link);
  }
  co_return task->shown();
}

Task<Result<stream::StreamPosition>> TaskService::append_stdin(TaskId id, StdinInlet::Piece piece) {
  const auto task = needs_.board.find(id);
  if (!task) co_return fail(ErrorCode::not_found, "the task has ended, or there is none");
  co_return co_await needs_.stdin_inlet.append(task, std::move(piece));
}

Task<Result<void>> TaskService::recover(const stream::StreamStore& streams) {
  auto work = [](store::ReadTransaction& tx) { return tx.tasks.unfinished(NodeId()); };
  OUTHAUL_CO_TRY(rows, co_await database_.read(std::move(work)));
  for (auto& row : rows) {
    OUTHAUL_CO_TRY(task, revive(std::move(row)));
    // A power loss may have taken the input stream, of which nothing was acknowledged yet.
    const auto& input = task->row.stdin_stream;
    if (!input.is_empty() && !needs_.stdin_inlet.has(input)) {
      OUTHAUL_CO_CHECK(needs_.stdin_inlet.create(input, random_));
    }
    const auto& audited = needs_.audit.log();
    const auto& id = task->row.id.text();
    const bool is_noted = audited.has_recovered(audit::AuditAction::task_submitted, id) ||
                          audited.has_recovered(audit::AuditAction::task_adopted, id);
    if (!is_noted) OUTHAUL_CO_CHECK(audit_submission(*task, true));
    needs_.board.add(task);
    const auto totals = streams.find(task->row.stream);
    if (totals && totals->complete) needs_.ender.end_when_durable(task);
  }
  if (!rows.empty()) log_.info("unfinished tasks read back", {{"tasks", rows.size()}});
  needs_.audit.log().forget_recovered();
  needs_.board.wake_dispatcher();
  co_return Result<void>();
}

Result<LiveTaskPtr> TaskService::revive(store::TaskRow row) {
  auto task = std::make_shared<LiveTask>(executor_);
  auto spec = wire::parse_task_spec(row.spec);
  if (!spec) return fail(ErrorCode::store_corrupt, "task row: its spec is not what was written");
  OUTHAUL_TRY(selector, parse_selector_row(row.selector_json));
  task->spec = std::move(*spec);
  task->selector = std::move(selector);
  // Time in which the hub was away is nobody's delay.
  if (row.times.queue_deadline) {
    const auto left = *row.times.queue_deadline - clock_.wall_now();
    task->queue_deadline = clock_.now() + std::max<std::chrono::nanoseconds>(left, restart_grace);
  }
  task->row = std::move(row);
  task->saved.set();
  return task;
}

}  // namespace outhaul::hub
