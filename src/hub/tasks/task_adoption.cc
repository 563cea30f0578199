#include "hub/tasks/task_adoption.h"

#include "base/planted_fault.h"

namespace outhaul::hub {
namespace {

constexpr Duration retry_interval = std::chrono::seconds(1);
constexpr std::size_t max_summary_bytes = 200;

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line.append(line.empty() ? "" : " ").append(word);
  return line;
}

// Cut between characters, so that the row stays UTF-8.
std::string cut(std::string line) {
  if (line.size() <= max_summary_bytes) return line;
  std::size_t end = max_summary_bytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) --end;
  line.resize(end);
  return line;
}

// A task that ended without a node is nobody's: whoever has it after all may forget it.
bool is_of_another(const store::TaskRow& row, const StreamId& stream, const NodeId& node) {
  if (row.stream != stream) return true;
  return row.node != node && !(row.node.is_empty() && store::is_final(row.state));
}

store::TaskRow row_of(const wire::TaskSpec& spec, Bytes envelope, WallTime now) {
  store::TaskRow row;
  row.id = spec.task_id;
  row.owner = spec.owner;
  row.node = spec.audience;
  row.state = store::TaskState::accepted;
  row.selector_json = selector_json({.node = spec.audience.text(), .pool = {}, .labels = {}});
  row.action_summary = action_summary(spec.action);
  row.spec = wire::serialise_task_spec(spec);
  row.envelope = std::move(envelope);
  row.stream = spec.stream_id;
  row.stdin_stream = spec.stdin_stream_id.value_or(StreamId());
  row.times.created_at = spec.issued_at;
  row.times.dispatched_at = spec.issued_at;
  row.times.accepted_at = now;
  if (spec.trace) row.traceparent = spec.trace->text();
  return row;
}

}  // namespace

TaskAdoption::TaskAdoption(const HubPorts& ports, const Needs& needs)
    : executor_(ports.executor),
      clock_(ports.clock),
      database_(ports.database),
      log_(ports.log),
      board_(needs.board),
      rows_(needs.rows),
      signer_(needs.signer),
      stdin_inlet_(needs.stdin_inlet),
      audit_(needs.audit),
      random_(ports.random),
      saves_(ports.executor) {}

Task<Result<TaskAdoption::Owner>> TaskAdoption::find_owner(StreamId stream, NodeId node, Bytes envelope) {
  const auto other_node = [] {
    return fail(ErrorCode::denied, "the stream belongs to a task of another node");
  };
  if (auto task = board_.find_by_stream(stream)) {
    if (task->row.stream == stream && task->is_doubtful())
      OUTHAUL_CO_CHECK(take_over(task, node, std::move(envelope)));
    if (is_of_another(task->row, stream, node)) co_return other_node();
    // The node forgets what it hears has ended: not before that is sure.
    while (task->before_end) co_await task->changed.wait_pulse();
    if (task->is_final()) co_return Owner(Ended());
    co_return Owner(std::move(task));
  }
  auto work = [stream](store::ReadTransaction& tx) { return tx.tasks.find_by_stream(stream); };
  OUTHAUL_CO_TRY(row, co_await database_.read(std::move(work)));
  if (row && is_of_another(*row, stream, node)) co_return other_node();
  if (row && store::is_final(row->state)) co_return Owner(Ended());
  // It may have come alive while the database was asked.
  if (auto task = board_.find_by_stream(stream)) co_return Owner(std::move(task));
  OUTHAUL_CO_TRY(task, adopt(stream, node, std::move(envelope)));
  co_return Owner(std::move(task));
}

// Only the node's envelope proves that it was sent there.
Result<void> TaskAdoption::take_over(const LiveTaskPtr& task, const NodeId& node, Bytes envelope) {
  auto& row = task->row;
  const auto unproven = [] {
    return fail(ErrorCode::stream_unknown, "the hub does not know that this node has the task");
  };
  if (envelope.empty() || OUTHAUL_FAULT("handover_ignored")) return unproven();
  const auto spec = signer_.open(envelope, node);
  if (!spec || spec->stream_id != row.stream || spec->task_id != row.id) return unproven();
  row.state = store::TaskState::accepted;
  row.envelope = std::move(envelope);
  row.times.dispatched_at = spec->issued_at;
  row.times.accepted_at = clock_.wall_now();
  board_.move(task, node);
  task->is_resume_due = true;
  log_.info("task in doubt handed over by its node", {{"task", row.id.text()}, {"node", node.text()}});
  audit_.note({audit::AuditAction::task_adopted, node.text(), row.id.text()});
  rows_.settle_doubt(task);
  task->changed.pulse();
  return {};
}

Result<LiveTaskPtr> TaskAdoption::adopt(const StreamId& stream, const NodeId& node, Bytes envelope) {
  const auto unknown = [] { return fail(ErrorCode::stream_unknown, "the hub has no task with this stream"); };
  if (envelope.empty()) return unknown();
  auto spec = signer_.open(envelope, node);
  if (!spec || spec->stream_id != stream || board_.find(spec->task_id)) return unknown();
  auto task = std::make_shared<LiveTask>(executor_);
  task->row = row_of(*spec, std::move(envelope), clock_.wall_now());
  task->selector.node = node.text();
  task->spec = std::move(*spec);
  task->is_resume_due = true;
  // Its client was never told of it.
  const auto& input = task->row.stdin_stream;
  if (!input.is_empty()) OUTHAUL_CHECK(stdin_inlet_.end_unfed(input, random_));
  board_.add(task);
  log_.info("task adopted from its node", {{"task", task->row.id.text()}, {"node", node.text()}});
  audit_.note({audit::AuditAction::task_adopted, node.text(), task->row.id.text()});
  saves_.spawn([this, task] { return save(task); });
  return task;
}

Task<void> TaskAdoption::save(LiveTaskPtr task) {
  if (const auto input = task->row.stdin_stream; !input.is_empty()) {
    const auto ended = co_await stdin_inlet_.durable(input);
    if (!ended) log_.failure("the end of an adopted task's input is not durable", ended.error());
  }
  // Once it has ended the end brings the row, together with the output: a row alone would say that all is
  // there.
  while (!task->saved.is_set() && !task->is_final()) {
    const auto added = co_await rows_.add(task, std::nullopt);
    if (added) co_return;
    log_.failure("adopted task not written", added.error());
    if (added.error().error_class() != ErrorClass::retry) co_return;
    co_await clock_.sleep_for(retry_interval);
  }
}

Task<void> TaskAdoption::join() {
  saves_.cancel();
  co_await saves_.join();
}

std::string action_summary(const wire::TaskAction& action) {
  if (const auto* argv = std::get_if<wire::ArgvAction>(&action)) return cut(joined(argv->argv));
  if (const auto* shell = std::get_if<wire::ShellAction>(&action)) return cut(shell->line);
  return cut("echo " + std::get<wire::EchoAction>(action).text);
}

}  // namespace outhaul::hub
