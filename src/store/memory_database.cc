#include "store/memory_database.h"

#include <algorithm>
#include <iterator>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/within.h"
#include "store/memory_identity_stores.h"
#include "store/memory_task_stores.h"

namespace outhaul::store {
namespace {

struct MemoryStores {
  explicit MemoryStores(MemoryTables& tables)
      : nodes(tables),
        enrolment_tokens(tables),
        accounts(tables),
        api_tokens(tables),
        user_keys(tables),
        tasks(tables),
        streams(tables),
        idempotency(tables),
        deployment(tables) {}
  Transaction transaction() {
    return {nodes, enrolment_tokens, accounts,    api_tokens, user_keys,
            tasks, streams,          idempotency, deployment};
  }
  ReadTransaction read_transaction() {
    return {nodes, enrolment_tokens, accounts,    api_tokens, user_keys,
            tasks, streams,          idempotency, deployment};
  }

  MemoryNodeStore nodes;
  MemoryEnrolmentTokenStore enrolment_tokens;
  MemoryAccountStore accounts;
  MemoryApiTokenStore api_tokens;
  MemoryUserKeyStore user_keys;
  MemoryTaskStore tasks;
  MemoryStreamStore streams;
  MemoryIdempotencyStore idempotency;
  MemoryDeploymentStore deployment;
};

// A dead process gets no answer, not even an error: its coroutine waits until it is destroyed.
Task<void> wait_for_ever(Executor executor) {
  Event never(executor);
  co_await never.wait();
}

}  // namespace

MemoryStorage::MemoryStorage(const std::string& deployment, WallTime created_at)
    : tables_(std::make_unique<MemoryTables>()) {
  Deployment row{.name = deployment, .hub_epoch = 1, .created_at = created_at};
  tables_->deployments.put(deployment, std::move(row));
  tables_->undo.forget();
}

MemoryStorage::~MemoryStorage() = default;

Result<void> MemoryStorage::change(const std::function<Result<void>(Transaction&)>& work) {
  MemoryStores stores(*tables_);
  auto tx = stores.transaction();
  auto done = work(tx);
  if (!done) tables_->undo.undo_to(0);
  tables_->undo.forget();
  return done;
}

struct MemoryDatabase::Pending {
  Pending(const Executor& executor, std::shared_ptr<WriteWork> to_do)
      : work(std::move(to_do)), done(executor) {}
  std::shared_ptr<WriteWork> work;
  Result<void> outcome;
  Event done;
};

MemoryDatabase::MemoryDatabase(Executor executor, AsyncClock& clock, MemoryStorage& storage, Options options)
    : clock_(clock),
      storage_(storage),
      options_(options),
      urgent_(executor),
      committer_(std::move(executor)) {}

MemoryDatabase::~MemoryDatabase() = default;

DatabaseCounters MemoryDatabase::counters() const { return counters_; }

Task<void> MemoryDatabase::close() { co_await committer_.join(); }

void MemoryDatabase::crash(InFlight in_flight) {
  if (!is_dead_ && in_flight == InFlight::kept) apply(in_flight_);
  deaden();
}

Task<Result<void>> MemoryDatabase::run_write(std::shared_ptr<WriteWork> work, Urgency urgency) {
  if (is_dead_) co_await wait_for_ever(committer_.executor());
  if (queued_.size() >= max_queued)
    co_return fail(ErrorCode::exhausted, "database: too many transactions wait");
  const auto pending = std::make_shared<Pending>(committer_.executor(), std::move(work));
  queued_.push_back(pending);
  if (urgency == Urgency::now) urgent_.set();
  if (!is_committing_) {
    is_committing_ = true;
    committer_.spawn([this] { return commit_groups(); });
  }
  co_await pending->done.wait();
  co_return pending->outcome;
}

Task<Result<void>> MemoryDatabase::run_read(std::shared_ptr<ReadWork> work) {
  // The real one answers from another thread, never before the caller has suspended.
  co_await asio::post(committer_.executor(), asio::use_awaitable);
  if (is_dead_) co_await wait_for_ever(committer_.executor());
  if (fault_ == ErrorCode::unavailable) co_return fail(ErrorCode::unavailable, "database: read failed");
  MemoryStores stores(storage_.tables());
  auto tx = stores.read_transaction();
  counters_.reads += 1;
  co_return work->run(tx);
}

Task<void> MemoryDatabase::commit_groups() {
  while (!queued_.empty() && !is_dead_) {
    if (!urgent_.is_set()) co_await within(clock_, clock_.now() + soon_limit, urgent_.wait());
    if (is_dead_) co_return;
    const auto count = static_cast<std::ptrdiff_t>(std::min(queued_.size(), max_batch));
    in_flight_.assign(std::make_move_iterator(queued_.begin()),
                      std::make_move_iterator(queued_.begin() + count));
    queued_.erase(queued_.begin(), queued_.begin() + count);
    if (queued_.empty()) urgent_.reset();
    co_await clock_.sleep_for(options_.commit_latency);
    if (is_dead_) co_return;
    apply(in_flight_);
    for (const auto& pending : in_flight_) pending->done.set();
    in_flight_.clear();
  }
  is_committing_ = false;
}

// Nobody sees a group before it is durable, so running it at the moment of its commit is the same as
// running it before and hiding it.
void MemoryDatabase::apply(Group& group) {
  auto& undo = storage_.tables().undo;
  MemoryStores stores(storage_.tables());
  auto tx = stores.transaction();
  for (const auto& pending : group) {
    const auto mark = undo.mark();
    pending->outcome = pending->work->run(tx);
    if (!pending->outcome) undo.undo_to(mark);
  }
  if (fault_) {
    undo.undo_to(0);
    for (const auto& pending : group) pending->outcome = fail(*fault_, "database: commit failed");
    return;
  }
  undo.forget();
  const auto failed = static_cast<std::uint64_t>(
      std::ranges::count_if(group, [](const auto& pending) { return !pending->outcome; }));
  counters_.rolled_back += failed;
  counters_.transactions += group.size() - failed;
  counters_.commits += 1;
}

}  // namespace outhaul::store
