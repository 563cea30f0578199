#include "store/row_rules.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_task_stores.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_ANSWER_COLUMNS "owner, key, request_hash, status, body, task, created_at, expires_at"

IdempotencyRow read_answer(SqliteStatement& in) {
  IdempotencyRow row;
  row.owner = in.id<AccountId>();
  row.key = in.text();
  row.request_hash = in.blob();
  row.status = static_cast<int>(in.integer());
  row.body = in.blob();
  row.task = in.id<TaskId>();
  row.created_at = in.time();
  row.expires_at = in.time();
  return row;
}

}  // namespace

Result<std::optional<IdempotencyRow>> SqliteIdempotencyStore::find(const AccountId& owner,
                                                                   const std::string& key, WallTime now) {
  return read_optional(connection_.query("SELECT " OUTHAUL_ANSWER_COLUMNS
                                         " FROM idempotency WHERE owner = ? AND key = ? AND expires_at > ?",
                                         owner, key, now),
                       read_answer);
}

Result<void> SqliteIdempotencyStore::add(const IdempotencyRow& row) {
  OUTHAUL_CHECK(connection_.change("DELETE FROM idempotency WHERE owner = ? AND key = ? AND expires_at <= ?",
                                   row.owner, row.key, row.created_at));
  auto added =
      connection_.change("INSERT INTO idempotency (" OUTHAUL_ANSWER_COLUMNS ") VALUES (?,?,?,?,?,?,?,?)",
                         row.owner, row.key, Blob(row.request_hash), static_cast<std::int64_t>(row.status),
                         Blob(row.body), row.task, row.created_at, row.expires_at);
  if (!added && is_unique_violation(added.error())) return row_exists("idempotency key");
  OUTHAUL_CHECK(added);
  return {};
}

Result<void> SqliteIdempotencyStore::set_answer(const AccountId& owner, const std::string& key, int status,
                                                const Bytes& body) {
  OUTHAUL_TRY(changed,
              connection_.change("UPDATE idempotency SET status = ?, body = ? WHERE owner = ? AND key = ?",
                                 static_cast<std::int64_t>(status), Blob(body), owner, key));
  if (changed == 0) return no_such_row("idempotency key");
  return {};
}

Result<std::uint64_t> SqliteIdempotencyStore::prune(WallTime now) {
  return connection_.change("DELETE FROM idempotency WHERE expires_at <= ?", now);
}

}  // namespace outhaul::store
