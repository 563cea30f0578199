// SqliteWriter: commits groups of transactions on the writing connection. Belongs to the writer thread.
#pragma once

#include <atomic>
#include <optional>

#include "store/sqlite_connection.h"
#include "store/sqlite_handoff.h"

namespace outhaul::store {

// Written by the database's threads, read by anybody.
struct SqliteCounters {
  std::atomic<std::uint64_t> transactions = 0;
  std::atomic<std::uint64_t> commits = 0;
  std::atomic<std::uint64_t> rolled_back = 0;
  std::atomic<std::uint64_t> reads = 0;
};

class SqliteWriter {
 public:
  SqliteWriter(SqliteConnection connection, SqliteCounters& counters)
      : connection_(std::move(connection)), counters_(counters) {}

  // Decides the outcome of every transaction of the group: durable, or not there at all.
  void commit(Group<Transaction>& group);

 private:
  using One = Pending<Transaction>;
  // Each fails when the whole group must: the connection cannot go on with it.
  Result<void> run_group(Transaction& tx, Group<Transaction>& group);
  Result<void> begin();
  // False: one of them failed, and the transaction is still open.
  Result<bool> run_together(Transaction& tx, Group<Transaction>& group);
  Result<void> run_each(Transaction& tx, Group<Transaction>& group);
  Result<void> run_one(Transaction& tx, One& one);
  Result<void> run_work(Transaction& tx, One& one);
  // Nothing of the group is kept; those that had succeeded are told so too.
  void give_up(Group<Transaction>& group, Error cause);
  void count(const Group<Transaction>& group);

  SqliteConnection connection_;
  SqliteCounters& counters_;
  // Set once the disk or the file has failed: nothing more is written.
  std::optional<Error> broken_;
};

}  // namespace outhaul::store
