#include "store/memory_task_stores.h"

#include <algorithm>

#include "store/memory_listing.h"
#include "store/row_rules.h"

namespace outhaul::store {
namespace {

void note_first(std::optional<WallTime>& time, WallTime when) {
  if (!time) time = when;
}

bool matches(const TaskFilter& filter, const TaskRow& row) {
  return (filter.owner.is_empty() || row.owner == filter.owner) &&
         (filter.node.is_empty() || row.node == filter.node) && (!filter.state || row.state == *filter.state);
}

}  // namespace

Result<std::optional<TaskRow>> MemoryTaskStore::find(const TaskId& id) { return copy_of(tasks_.find(id)); }

Result<std::optional<TaskRow>> MemoryTaskStore::find_by_stream(const StreamId& stream) {
  return copy_of(find_streaming(stream));
}

Result<Page<TaskRow>> MemoryTaskStore::list(const TaskFilter& filter, const PageRequest& page) {
  OUTHAUL_TRY(found,
              list_newest_first(tasks_, page, [&](const TaskRow& row) { return matches(filter, row); }));
  for (auto& row : found.rows) {
    row.spec.clear();
    row.envelope.clear();
  }
  return std::move(found);
}

Result<std::vector<TaskRow>> MemoryTaskStore::unfinished(const NodeId& node) {
  std::vector<TaskRow> rows;
  for (const auto& [id, row] : tasks_.rows()) {
    if (!is_final(row.state) && (node.is_empty() || row.node == node)) rows.push_back(row);
  }
  return rows;
}

Result<void> MemoryTaskStore::add(const TaskRow& task) {
  const auto shares_stream = [&](const TaskRow& row) {
    return row.stream == task.stream ||
           (!task.stdin_stream.is_empty() && row.stdin_stream == task.stdin_stream);
  };
  if (tasks_.find(task.id) != nullptr || tasks_.find_if(shares_stream) != nullptr) return row_exists("task");
  tasks_.put(task.id, task);
  return {};
}

Result<void> MemoryTaskStore::dispatch(const TaskId& id, const NodeId& node, const Bytes& envelope,
                                       WallTime when) {
  OUTHAUL_TRY(task, copy_unfinished(id));
  if (task.state != TaskState::queued) return fail(ErrorCode::conflict, "task: it is no longer queued");
  task.state = TaskState::dispatched;
  task.node = node;
  task.envelope = envelope;
  task.times.dispatched_at = when;
  tasks_.put(id, std::move(task));
  return {};
}

Result<void> MemoryTaskStore::advance(const TaskId& id, TaskState state, WallTime when) {
  const auto* row = tasks_.find(id);
  if (row == nullptr) return no_such_row("task");
  OUTHAUL_CHECK(check_advance(row->state, state));
  TaskRow task = *row;
  task.state = std::max(task.state, state);
  note_first(state == TaskState::accepted ? task.times.accepted_at : task.times.started_at, when);
  tasks_.put(id, std::move(task));
  return {};
}

Result<void> MemoryTaskStore::requeue(const TaskId& id) {
  OUTHAUL_TRY(task, copy_unfinished(id));
  if (task.state != TaskState::dispatched) return fail(ErrorCode::conflict, "task: it is not dispatched");
  task.state = TaskState::queued;
  task.node = NodeId();
  task.envelope.clear();
  task.times.dispatched_at.reset();
  tasks_.put(id, std::move(task));
  return {};
}

Result<void> MemoryTaskStore::request_cancel(const TaskId& id, WallTime when) {
  OUTHAUL_TRY(task, copy_unfinished(id));
  note_first(task.times.cancel_requested_at, when);
  tasks_.put(id, std::move(task));
  return {};
}

Result<void> MemoryTaskStore::finish(const TaskId& id, const TaskEnd& end) {
  const auto* row = tasks_.find(id);
  if (row == nullptr) return no_such_row("task");
  OUTHAUL_CHECK(check_finish(row->state, end.state));
  TaskRow task = *row;
  task.state = end.state;
  task.result = end.result;
  task.error_code = end.error_code;
  task.error_message = end.error_message;
  task.times.finished_at = end.finished_at;
  tasks_.put(id, std::move(task));
  return {};
}

Result<std::uint64_t> MemoryTaskStore::doubt_unfinished() {
  OUTHAUL_TRY(unfinished_rows, unfinished(NodeId()));
  for (auto& task : unfinished_rows) {
    if (task.state == TaskState::dispatched) OUTHAUL_CHECK(requeue(task.id));
    TaskRow doubted = *tasks_.find(task.id);
    doubted.is_in_doubt = true;
    tasks_.put(task.id, std::move(doubted));
  }
  return unfinished_rows.size();
}

Result<void> MemoryTaskStore::settle_doubt(const TaskId& id, const NodeId& node, const Bytes& envelope,
                                           WallTime when) {
  OUTHAUL_TRY(task, copy_unfinished(id));
  if (!task.is_in_doubt) return fail(ErrorCode::conflict, "task: it is not in doubt");
  task.is_in_doubt = false;
  task.state = std::max(task.state, TaskState::accepted);
  task.node = node;
  task.envelope = envelope;
  note_first(task.times.accepted_at, when);
  tasks_.put(id, std::move(task));
  return {};
}

const TaskRow* MemoryTaskStore::find_streaming(const StreamId& stream) const {
  if (stream.is_empty()) return nullptr;
  return tasks_.find_if(
      [&](const TaskRow& row) { return row.stream == stream || row.stdin_stream == stream; });
}

Result<TaskRow> MemoryTaskStore::copy_unfinished(const TaskId& id) const {
  const auto* row = tasks_.find(id);
  if (row == nullptr) return no_such_row("task");
  if (is_final(row->state)) return task_is_final();
  return *row;
}

Result<std::optional<StreamRow>> MemoryStreamStore::find(const StreamId& id) {
  const auto* stream = streams_.find(id);
  return stream == nullptr ? std::nullopt : std::optional(stream->row);
}

Result<std::optional<Bytes>> MemoryStreamStore::find_records(const StreamId& id) {
  const auto* stream = streams_.find(id);
  if (stream == nullptr || stream->row.place != StreamPlace::archived) return std::optional<Bytes>();
  return std::optional(stream->records);
}

Result<void> MemoryStreamStore::add(const StreamRow& stream, ByteView records) {
  OUTHAUL_CHECK(check_stream(stream, records));
  if (streams_.find(stream.id) != nullptr) return row_exists("stream");
  MemoryStream stored{.row = stream, .records = Bytes(records)};
  streams_.put(stream.id, std::move(stored));
  return {};
}

Result<bool> MemoryStreamStore::remove(const StreamId& id) { return streams_.erase(id); }

Result<std::optional<IdempotencyRow>> MemoryIdempotencyStore::find(const AccountId& owner,
                                                                   const std::string& key, WallTime now) {
  const auto* row = rows_.find(Key(owner, key));
  if (row == nullptr || row->expires_at <= now) return std::optional<IdempotencyRow>();
  return std::optional(*row);
}

Result<void> MemoryIdempotencyStore::add(const IdempotencyRow& row) {
  const Key key(row.owner, row.key);
  const auto* before = rows_.find(key);
  if (before != nullptr && before->expires_at > row.created_at) return row_exists("idempotency key");
  rows_.put(key, row);
  return {};
}

Result<void> MemoryIdempotencyStore::set_answer(const AccountId& owner, const std::string& key, int status,
                                                const Bytes& body) {
  const auto* row = rows_.find(Key(owner, key));
  if (row == nullptr) return no_such_row("idempotency key");
  IdempotencyRow answered = *row;
  answered.status = status;
  answered.body = body;
  rows_.put(Key(owner, key), std::move(answered));
  return {};
}

Result<std::uint64_t> MemoryIdempotencyStore::prune(WallTime now) {
  std::vector<Key> expired;
  for (const auto& [key, row] : rows_.rows()) {
    if (row.expires_at <= now) expired.push_back(key);
  }
  for (const auto& key : expired) rows_.erase(key);
  return expired.size();
}

Result<Deployment> MemoryDeploymentStore::load() { return deployments_.rows().begin()->second; }

Result<std::optional<Bytes>> MemoryDeploymentStore::find_setting(const std::string& name) {
  return copy_of(settings_.find(name));
}

Result<std::map<std::string, Bytes>> MemoryDeploymentStore::settings(const std::string& prefix) {
  std::map<std::string, Bytes> found;
  for (auto at = settings_.rows().lower_bound(prefix); at != settings_.rows().end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    if (found.size() == max_page_rows) return fail(ErrorCode::exhausted, "settings: too many for one answer");
    found.insert(*at);
  }
  return found;
}

Result<std::uint64_t> MemoryDeploymentStore::raise_hub_epoch(std::uint64_t least) {
  Deployment raised = deployments_.rows().begin()->second;
  raised.hub_epoch = std::max(raised.hub_epoch + 1, least);
  deployments_.put(raised.name, raised);
  return raised.hub_epoch;
}

Result<void> MemoryDeploymentStore::put_setting(const std::string& name, const Bytes& value) {
  OUTHAUL_CHECK(check_setting(name, value));
  settings_.put(name, value);
  return {};
}

Result<bool> MemoryDeploymentStore::remove_setting(const std::string& name) { return settings_.erase(name); }

}  // namespace outhaul::store
