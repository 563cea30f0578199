// SqliteDatabase: the Database on one file. One thread owns the writing connection and commits in groups;
// a second thread owns a reading connection, so that a slow listing delays no commit.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "store/database.h"
#include "store/stream_store.h"

namespace outhaul::store {

struct SqliteLocation {
  std::string path;        // of the database file; beside it SQLite keeps `-wal` and `-shm`
  std::string deployment;  // the DNS name that the database must belong to
};

// What check_sqlite found in a file that is fit to serve.
struct SqliteReport {
  Deployment deployment;
  int migrations_applied = 0;
  int migrations_pending = 0;     // `open` would apply them
  bool was_checked_whole = true;  // false: over the size bound, only the small tables were checked
};

// Reads only: the files hold the same bytes afterwards. Errors as SqliteDatabase::open; data_locked:
// another process has the file open.
Result<SqliteReport> check_sqlite(const SqliteLocation& location);

// Shows each archived stream with its encoded records, by id. Reads only. For a file that check_sqlite found
// sound.
using ArchiveVisitor = std::function<void(const StreamRow& stream, ByteView records)>;
Result<void> visit_archived_streams(const SqliteLocation& location, const ArchiveVisitor& visit);

class SqliteDatabase final : public Database {
 public:
  // Makes the file and binds it to the deployment, once. conflict: the file holds something already; it
  // is not touched. An empty one, as a cut-off `create` leaves, is taken.
  static Result<std::unique_ptr<SqliteDatabase>> create(const SqliteLocation& location, WallTime now);
  // Opens what `create` made and applies pending migrations. In each of these cases the file is left as
  // it was found:
  //   store_corrupt       missing, empty, damaged, or no database at all; nothing is recreated
  //   store_foreign       of another deployment, another program or an unknown chain of migrations
  //   data_format_newer   our chain, with migrations that this version does not know
  //   data_locked, unavailable, disk_full
  static Result<std::unique_ptr<SqliteDatabase>> open(const SqliteLocation& location, WallTime now);

  // Finishes what is queued, then ends both threads. The executors of waiting callers must still live.
  ~SqliteDatabase() override;
  DatabaseCounters counters() const override;

 protected:
  Task<Result<void>> run_write(std::shared_ptr<WriteWork> work, Urgency urgency) override;
  Task<Result<void>> run_read(std::shared_ptr<ReadWork> work) override;

 private:
  class Threads;
  explicit SqliteDatabase(std::unique_ptr<Threads> threads);
  std::unique_ptr<Threads> threads_;
};

}  // namespace outhaul::store
