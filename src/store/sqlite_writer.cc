#include "store/sqlite_writer.h"

#include <algorithm>

#include "store/sqlite_transaction.h"

namespace outhaul::store {
namespace {

// After a failed write or sync nobody knows what the disk holds, and the kernel reports it only once:
// going on could acknowledge what is not there. A full disk is different, SQLite asks before it writes.
bool is_beyond_repair(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::store_corrupt;
}

}  // namespace

void SqliteWriter::commit(Group<Transaction>& group) {
  if (broken_) return give_up(group, *broken_);
  SqliteStores stores(connection_);
  auto tx = stores.transaction();
  if (auto done = run_group(tx, group); !done) return give_up(group, std::move(done).error());
  count(group);
}

// First without savepoints, each of which costs a copy of every page that is touched after it. When one of
// the group fails, which is rare, all that ran is undone and the group runs again, each inside its own.
Result<void> SqliteWriter::run_group(Transaction& tx, Group<Transaction>& group) {
  OUTHAUL_CHECK(begin());
  OUTHAUL_TRY(all_succeeded, run_together(tx, group));
  if (!all_succeeded) {
    OUTHAUL_CHECK(connection_.change("ROLLBACK"));
    if (group.size() == 1) return {};
    OUTHAUL_CHECK(begin());
    OUTHAUL_CHECK(run_each(tx, group));
  }
  OUTHAUL_CHECK(connection_.change("COMMIT"));
  return {};
}

Result<void> SqliteWriter::begin() {
  auto begun = connection_.change("BEGIN IMMEDIATE");
  if (begun) return {};
  if (begun.error().code() != ErrorCode::data_locked) return fail(std::move(begun).error());
  return fail(ErrorCode::exhausted, "database: another process holds its lock");
}

Result<bool> SqliteWriter::run_together(Transaction& tx, Group<Transaction>& group) {
  for (const auto& pending : group) {
    OUTHAUL_CHECK(run_work(tx, *pending));
    if (!pending->outcome) return false;
  }
  return true;
}

Result<void> SqliteWriter::run_each(Transaction& tx, Group<Transaction>& group) {
  for (const auto& pending : group) OUTHAUL_CHECK(run_one(tx, *pending));
  return {};
}

Result<void> SqliteWriter::run_one(Transaction& tx, One& one) {
  OUTHAUL_CHECK(connection_.change("SAVEPOINT one"));
  OUTHAUL_CHECK(run_work(tx, one));
  if (!one.outcome) OUTHAUL_CHECK(connection_.change("ROLLBACK TO one"));
  OUTHAUL_CHECK(connection_.change("RELEASE one"));
  return {};
}

Result<void> SqliteWriter::run_work(Transaction& tx, One& one) {
  one.outcome = one.work->run(tx);
  const bool has_failed = !one.outcome;
  if (has_failed && one.outcome.error().code() == ErrorCode::store_corrupt) return fail(one.outcome.error());
  // On some faults SQLite undoes the whole group by itself, the earlier ones included.
  if (!connection_.is_in_transaction()) {
    if (has_failed) return fail(one.outcome.error());
    return fail(ErrorCode::unavailable, "database: a write failed");
  }
  return {};
}

void SqliteWriter::give_up(Group<Transaction>& group, Error cause) {
  if (connection_.is_in_transaction()) static_cast<void>(connection_.change("ROLLBACK"));
  for (const auto& pending : group) pending->outcome = fail(cause);
  if (!broken_ && is_beyond_repair(cause.code())) broken_ = std::move(cause).during("database stopped");
}

void SqliteWriter::count(const Group<Transaction>& group) {
  const auto failed = static_cast<std::uint64_t>(
      std::ranges::count_if(group, [](const auto& pending) { return !pending->outcome; }));
  counters_.rolled_back += failed;
  counters_.transactions += group.size() - failed;
  counters_.commits += 1;
}

}  // namespace outhaul::store
