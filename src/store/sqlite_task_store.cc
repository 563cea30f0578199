#include "store/row_rules.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_task_stores.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_TASK_LISTED_COLUMNS                                                                       \
  "id, owner, node, state, stream, stdin_stream, created_at, dispatched_at, accepted_at, started_at, "    \
  "finished_at, queue_deadline, cancel_requested_at, action_summary, selector, traceparent, error_code, " \
  "error_message, result, in_doubt"
#define OUTHAUL_TASK_COLUMNS OUTHAUL_TASK_LISTED_COLUMNS ", spec, envelope"

// The column of a filter that is driven by another one; an empty value matches everything.
#define OUTHAUL_OWNER_MATCHES "(?1 = '' OR owner = ?1)"
#define OUTHAUL_NODE_MATCHES "(?2 = '' OR node = ?2)"
#define OUTHAUL_STATE_MATCHES "(?3 < 0 OR state = ?3)"
#define OUTHAUL_TASK_LISTING(driving)                                \
  "SELECT " OUTHAUL_TASK_LISTED_COLUMNS " FROM tasks WHERE " driving \
  " AND id < ?4 ORDER BY id DESC LIMIT "                             \
  "?5"

TaskTimes read_times(SqliteStatement& in) {
  TaskTimes times;
  times.created_at = in.time();
  times.dispatched_at = in.optional_time();
  times.accepted_at = in.optional_time();
  times.started_at = in.optional_time();
  times.finished_at = in.optional_time();
  times.queue_deadline = in.optional_time();
  times.cancel_requested_at = in.optional_time();
  return times;
}

TaskRow read_listed_task(SqliteStatement& in) {
  TaskRow task;
  task.id = in.id<TaskId>();
  task.owner = in.id<AccountId>();
  task.node = in.id<NodeId>();
  task.state = static_cast<TaskState>(in.integer());
  task.stream = in.id<StreamId>();
  task.stdin_stream = in.id<StreamId>();
  task.times = read_times(in);
  task.action_summary = in.text();
  task.selector_json = in.text();
  task.traceparent = in.text();
  task.error_code = in.text();
  task.error_message = in.text();
  task.result = in.blob();
  task.is_in_doubt = in.integer() != 0;
  return task;
}

TaskRow read_task(SqliteStatement& in) {
  auto task = read_listed_task(in);
  task.spec = in.blob();
  task.envelope = in.blob();
  return task;
}

std::int64_t column_of(TaskState state) { return static_cast<std::int64_t>(state); }

// The listing whose index leaves the fewest rows to look at.
Sql listing_for(const TaskFilter& filter) {
  if (!filter.node.is_empty()) {
    return OUTHAUL_TASK_LISTING("node = ?2 AND node <> '' AND " OUTHAUL_OWNER_MATCHES
                                " AND " OUTHAUL_STATE_MATCHES);
  }
  if (!filter.owner.is_empty()) {
    return OUTHAUL_TASK_LISTING("owner = ?1 AND " OUTHAUL_NODE_MATCHES " AND " OUTHAUL_STATE_MATCHES);
  }
  if (filter.state) {
    return OUTHAUL_TASK_LISTING("state = ?3 AND " OUTHAUL_OWNER_MATCHES " AND " OUTHAUL_NODE_MATCHES);
  }
  return OUTHAUL_TASK_LISTING(OUTHAUL_OWNER_MATCHES " AND " OUTHAUL_NODE_MATCHES
                                                    " AND " OUTHAUL_STATE_MATCHES);
}

}  // namespace

Result<std::optional<TaskRow>> SqliteTaskStore::find(const TaskId& id) {
  return read_optional(connection_.query("SELECT " OUTHAUL_TASK_COLUMNS " FROM tasks WHERE id = ?", id),
                       read_task);
}

Result<std::optional<TaskRow>> SqliteTaskStore::find_by_stream(const StreamId& stream) {
  return read_optional(connection_.query("SELECT " OUTHAUL_TASK_COLUMNS " FROM tasks WHERE ?1 <> '' AND "
                                         "(stream = ?1 OR (stdin_stream = ?1 AND stdin_stream <> ''))",
                                         stream),
                       read_task);
}

Result<Page<TaskRow>> SqliteTaskStore::list(const TaskFilter& filter, const PageRequest& page) {
  OUTHAUL_TRY(start, parse_page_start<TaskId>(page));
  const std::string_view before = start.is_empty() ? after_every_id : start.text();
  const std::int64_t state = filter.state ? column_of(*filter.state) : -1;
  return read_page(
      connection_.query(listing_for(filter), filter.owner, filter.node, state, before, rows_to_fetch(page)),
      read_listed_task, page.limit);
}

Result<std::vector<TaskRow>> SqliteTaskStore::unfinished(const NodeId& node) {
  // The index by state, which holds few unfinished rows, also when one node is asked for: the index by
  // node holds the node's whole history (hence the +).
  return read_all(connection_.query("SELECT " OUTHAUL_TASK_COLUMNS
                                    " FROM tasks WHERE state < 4 AND (?1 = '' OR +node = ?1) ORDER BY +id",
                                    node),
                  read_task);
}

Result<void> SqliteTaskStore::add(const TaskRow& task) {
  const auto& times = task.times;
  auto added = connection_.change(
      "INSERT INTO tasks (" OUTHAUL_TASK_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      task.id, task.owner, task.node, column_of(task.state), task.stream, task.stdin_stream, times.created_at,
      times.dispatched_at, times.accepted_at, times.started_at, times.finished_at, times.queue_deadline,
      times.cancel_requested_at, task.action_summary, task.selector_json, task.traceparent, task.error_code,
      task.error_message, Blob(task.result), std::int64_t{task.is_in_doubt}, Blob(task.spec),
      Blob(task.envelope));
  if (!added && is_unique_violation(added.error())) return row_exists("task");
  OUTHAUL_CHECK(added);
  return {};
}

Result<void> SqliteTaskStore::dispatch(const TaskId& id, const NodeId& node, const Bytes& envelope,
                                       WallTime when) {
  OUTHAUL_TRY(changed,
              connection_.change("UPDATE tasks SET state = 1, node = ?, envelope = ?, dispatched_at = ? "
                                 "WHERE id = ? AND state = 0",
                                 node, Blob(envelope), when, id));
  if (changed != 0) return {};
  return explain_unchanged(id, "task: it is no longer queued");
}

Result<void> SqliteTaskStore::advance(const TaskId& id, TaskState state, WallTime when) {
  OUTHAUL_TRY(from, load_state(id));
  OUTHAUL_CHECK(check_advance(from, state));
  // The state only rises, and the first time stands.
  const auto changed =
      state == TaskState::accepted
          ? connection_.change(
                "UPDATE tasks SET state = max(state, 2), accepted_at = coalesce(accepted_at, ?) "
                "WHERE id = ?",
                when, id)
          : connection_.change(
                "UPDATE tasks SET state = max(state, 3), started_at = coalesce(started_at, ?) "
                "WHERE id = ?",
                when, id);
  OUTHAUL_CHECK(changed);
  return {};
}

Result<void> SqliteTaskStore::requeue(const TaskId& id) {
  OUTHAUL_TRY(changed, connection_.change(
                           "UPDATE tasks SET state = 0, node = '', envelope = x'', dispatched_at = NULL "
                           "WHERE id = ? AND state = 1",
                           id));
  if (changed != 0) return {};
  return explain_unchanged(id, "task: it is not dispatched");
}

Result<void> SqliteTaskStore::request_cancel(const TaskId& id, WallTime when) {
  OUTHAUL_TRY(changed,
              connection_.change("UPDATE tasks SET cancel_requested_at = coalesce(cancel_requested_at, ?) "
                                 "WHERE id = ? AND state < 4",
                                 when, id));
  if (changed != 0) return {};
  return explain_unchanged(id, "task: it cannot be cancelled");
}

Result<void> SqliteTaskStore::finish(const TaskId& id, const TaskEnd& end) {
  OUTHAUL_TRY(from, load_state(id));
  OUTHAUL_CHECK(check_finish(from, end.state));
  OUTHAUL_CHECK(connection_.change(
      "UPDATE tasks SET state = ?, result = ?, error_code = ?, error_message = ?, "
      "finished_at = ? WHERE id = ?",
      column_of(end.state), Blob(end.result), end.error_code, end.error_message, end.finished_at, id));
  return {};
}

Result<std::uint64_t> SqliteTaskStore::doubt_unfinished() {
  OUTHAUL_CHECK(connection_.change(
      "UPDATE tasks SET state = 0, node = '', envelope = x'', dispatched_at = NULL WHERE state = 1"));
  return connection_.change("UPDATE tasks SET in_doubt = 1 WHERE state < 4");
}

Result<void> SqliteTaskStore::settle_doubt(const TaskId& id, const NodeId& node, const Bytes& envelope,
                                           WallTime when) {
  OUTHAUL_TRY(
      changed,
      connection_.change("UPDATE tasks SET in_doubt = 0, state = max(state, 2), node = ?, envelope = ?, "
                         "accepted_at = coalesce(accepted_at, ?) WHERE id = ? AND state < 4 AND in_doubt = 1",
                         node, Blob(envelope), when, id));
  if (changed != 0) return {};
  return explain_unchanged(id, "task: it is not in doubt");
}

Result<TaskState> SqliteTaskStore::load_state(const TaskId& id) {
  OUTHAUL_TRY(row, connection_.query("SELECT state FROM tasks WHERE id = ?", id));
  OUTHAUL_TRY(has_row, row.step());
  if (!has_row) return no_such_row("task");
  return static_cast<TaskState>(row.integer());
}

Result<void> SqliteTaskStore::explain_unchanged(const TaskId& id, std::string_view conflict) {
  OUTHAUL_TRY(state, load_state(id));
  if (is_final(state)) return task_is_final();
  return fail(ErrorCode::conflict, std::string(conflict));
}

}  // namespace outhaul::store
