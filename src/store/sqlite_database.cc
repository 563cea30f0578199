#include "store/sqlite_database.h"

#include <thread>

#include <boost/asio/this_coro.hpp>

#include "store/sqlite_file.h"
#include "store/sqlite_handoff.h"
#include "store/sqlite_transaction.h"
#include "store/sqlite_writer.h"

namespace outhaul::store {
namespace {

// Puts the work into the queue and waits for its outcome. The work goes on when the wait is cancelled.
template <class Tx>
Task<Result<void>> hand_over(HandoffQueue<Tx>& queue, std::shared_ptr<Work<Tx>> work, Urgency urgency) {
  const Executor executor = co_await asio::this_coro::executor;
  const auto pending = std::make_shared<Pending<Tx>>(executor, std::move(work));
  if (!queue.put(pending, urgency)) co_return fail(ErrorCode::exhausted, "database: too many calls wait");
  co_await pending->done.wait();
  co_return pending->outcome;
}

Result<void> run_on_one_snapshot(SqliteConnection& connection, ReadWork& work) {
  OUTHAUL_CHECK(connection.change("BEGIN"));
  SqliteStores stores(connection);
  auto tx = stores.read_transaction();
  auto outcome = work.run(tx);
  OUTHAUL_CHECK(connection.change("ROLLBACK"));
  return outcome;
}

}  // namespace

// The two queues and the threads that serve them.
class SqliteDatabase::Threads {
 public:
  Threads(SqliteConnection writing, SqliteConnection reading)
      : writer_(std::move(writing), counters),
        reading_(std::move(reading)),
        write_thread_([this] { serve_writes(); }),
        read_thread_([this] { serve_reads(); }) {}
  ~Threads() {
    writes.close();
    reads.close();
    write_thread_.join();
    read_thread_.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  SqliteCounters counters;
  HandoffQueue<Transaction> writes{max_queued, soon_limit};
  HandoffQueue<ReadTransaction> reads{max_queued, soon_limit};

 private:
  void serve_writes() {
    for (auto group = writes.take(max_batch); !group.empty(); group = writes.take(max_batch)) {
      writer_.commit(group);
      deliver(group);
    }
  }
  void serve_reads() {
    for (auto group = reads.take(1); !group.empty(); group = reads.take(1)) {
      group.front()->outcome = run_on_one_snapshot(reading_, *group.front()->work);
      counters.reads += 1;
      deliver(group);
    }
  }

  SqliteWriter writer_;
  SqliteConnection reading_;
  std::thread write_thread_;
  std::thread read_thread_;
};

Result<SqliteReport> check_sqlite(const SqliteLocation& location) { return examine_sqlite_file(location); }

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::create(const SqliteLocation& location, WallTime now) {
  OUTHAUL_CHECK(make_sqlite_file(location, now));
  return open(location, now);
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const SqliteLocation& location, WallTime now) {
  OUTHAUL_TRY(report, examine_sqlite_file(location));
  OUTHAUL_TRY(writing, SqliteConnection::open(location.path, SqliteConnection::Mode::write));
  OUTHAUL_CHECK(migrate(writing, report.migrations_applied, now));
  OUTHAUL_TRY(reading, SqliteConnection::open(location.path, SqliteConnection::Mode::read));
  auto threads = std::make_unique<Threads>(std::move(writing), std::move(reading));
  return std::unique_ptr<SqliteDatabase>(new SqliteDatabase(std::move(threads)));
}

SqliteDatabase::SqliteDatabase(std::unique_ptr<Threads> threads) : threads_(std::move(threads)) {}

SqliteDatabase::~SqliteDatabase() = default;

DatabaseCounters SqliteDatabase::counters() const {
  const auto& counters = threads_->counters;
  return {.transactions = counters.transactions,
          .commits = counters.commits,
          .rolled_back = counters.rolled_back,
          .reads = counters.reads};
}

Task<Result<void>> SqliteDatabase::run_write(std::shared_ptr<WriteWork> work, Urgency urgency) {
  return hand_over(threads_->writes, std::move(work), urgency);
}

Task<Result<void>> SqliteDatabase::run_read(std::shared_ptr<ReadWork> work) {
  return hand_over(threads_->reads, std::move(work), Urgency::now);
}

}  // namespace outhaul::store
