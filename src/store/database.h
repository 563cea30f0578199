// Database: the port to the hub's rows. Transactions that wait at the same time share one fsync.
//
//   auto work = [id, when](store::Transaction& tx) { return tx.tasks.request_cancel(id, when); };
//   OUTHAUL_CO_CHECK(co_await database.transact(std::move(work)));
//
// The callable runs elsewhere (on SQLite: on the database's thread), so it takes and gives values: it
// captures no reference to anything that lives on the caller's strand, and does nothing slow. It is const and
// may run twice: what it did before is undone then.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/task.h"
#include "store/transaction.h"

namespace outhaul::store {

// One transaction on its way: the callable and, afterwards, its value. Shared by the coroutine that
// waits and by the database that runs it, because either may be gone before the other.
template <class Tx>
class Work {
 public:
  virtual ~Work() = default;
  virtual Result<void> run(Tx& tx) = 0;
};
using WriteWork = Work<Transaction>;
using ReadWork = Work<ReadTransaction>;

struct DatabaseCounters {
  std::uint64_t transactions = 0;  // acknowledged as durable
  std::uint64_t commits = 0;       // fsyncs that they shared
  std::uint64_t rolled_back = 0;   // the callable failed
  std::uint64_t reads = 0;
};

// When a transaction is committed.
enum class Urgency {
  now,   // somebody waits for it
  soon,  // nobody does: with the next one that somebody waits for, or soon_limit later
};

class Database {
 public:
  // How long a transaction that nobody waits for may wait for others, to share their sync.
  static constexpr std::chrono::milliseconds soon_limit{10};
  // A commit carries at most so many transactions.
  static constexpr std::size_t max_batch = 256;
  // Transactions that may wait; one more is `exhausted`.
  static constexpr std::size_t max_queued = 8192;

  virtual ~Database() = default;

  // Runs `fn`, a const callable Result<T>(Transaction&), and completes with its value once it is durable.
  // When fn fails, its changes alone are undone and its error is given. Otherwise:
  //   disk_full, unavailable  nothing of it is kept; the same work may succeed later
  //   store_corrupt           the file is damaged; nothing more is written
  //   exhausted               max_queued are waiting, or another process holds the file's lock; fn did not
  //   run
  // Transactions take effect in the order of the calls. Cancellation ends the wait and not the work: it
  // may still become durable. Resumes on the caller's executor.
  template <class Fn>
  auto transact(Fn fn, Urgency urgency = Urgency::now)
      -> Task<std::invoke_result_t<const Fn&, Transaction&>> {
    auto work = std::make_shared<WorkOf<Transaction, Fn>>(std::move(fn));
    OUTHAUL_CO_CHECK(co_await run_write(work, urgency));
    co_return work->take_value();
  }

  // Runs `fn`, a callable Result<T>(ReadTransaction&), on one consistent and durable state; sees every
  // transaction that completed before the call. Slow reads do not delay commits. Errors as above.
  template <class Fn>
  auto read(Fn fn) -> Task<std::invoke_result_t<const Fn&, ReadTransaction&>> {
    auto work = std::make_shared<WorkOf<ReadTransaction, Fn>>(std::move(fn));
    OUTHAUL_CO_CHECK(co_await run_read(work));
    co_return work->take_value();
  }

  virtual DatabaseCounters counters() const = 0;

 protected:
  virtual Task<Result<void>> run_write(std::shared_ptr<WriteWork> work, Urgency urgency) = 0;
  virtual Task<Result<void>> run_read(std::shared_ptr<ReadWork> work) = 0;

 private:
  template <class Tx, class Fn>
  class WorkOf final : public Work<Tx> {
   public:
    using Value = std::invoke_result_t<const Fn&, Tx&>;
    explicit WorkOf(Fn fn) : fn_(std::move(fn)) {}
    Result<void> run(Tx& tx) override {
      value_.emplace(std::as_const(fn_)(tx));
      if (!*value_) return fail(value_->error());
      return {};
    }
    Value take_value() { return std::move(*value_); }

   private:
    Fn fn_;
    std::optional<Value> value_;
  };
};

}  // namespace outhaul::store
