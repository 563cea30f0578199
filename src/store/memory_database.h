// MemoryDatabase: the Database for tests and for the simulation, with the same rules and none of the
// disk. MemoryStorage is what a disk would hold and outlives the process; MemoryDatabase is the open
// database of one process life. Deterministic: the clock alone decides when a commit completes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async_clock.h"
#include "base/event.h"
#include "base/task_group.h"
#include "store/database.h"

namespace outhaul::store {

struct MemoryTables;

class MemoryStorage {
 public:
  MemoryStorage(const std::string& deployment, WallTime created_at);
  ~MemoryStorage();
  MemoryTables& tables() { return *tables_; }
  const MemoryTables& tables() const { return *tables_; }
  // A change by another program, while no database is open over this.
  Result<void> change(const std::function<Result<void>(Transaction&)>& work);

 private:
  std::unique_ptr<MemoryTables> tables_;
};

class MemoryDatabase final : public Database {
 public:
  struct Options {
    // From the moment the first transaction of a group is taken until the group is durable.
    Duration commit_latency = std::chrono::microseconds(400);
  };
  // `storage` and `clock` outlive it. Runs on `executor`, which is the strand of all its callers.
  MemoryDatabase(Executor executor, AsyncClock& clock, MemoryStorage& storage, Options options);
  MemoryDatabase(Executor executor, AsyncClock& clock, MemoryStorage& storage)
      : MemoryDatabase(std::move(executor), clock, storage, Options()) {}
  ~MemoryDatabase() override;

  DatabaseCounters counters() const override;
  // Completes when nothing is queued any more. Needed before destruction unless the executor's
  // io_context has destroyed its coroutines (a simulated crash).
  Task<void> close();

  // Faults. While one is set, every group fails with it at its commit and is undone: disk_full or
  // unavailable. Empty: healthy again.
  void set_fault(std::optional<ErrorCode> fault) { fault_ = fault; }
  // The process is dead: nothing becomes durable any more and no call completes.
  void deaden() { is_dead_ = true; }
  // deaden(), where the group in flight may have reached the disk although nobody was told. What was
  // not yet in a group is lost either way.
  enum class InFlight { lost, kept };
  void crash(InFlight in_flight);

 protected:
  Task<Result<void>> run_write(std::shared_ptr<WriteWork> work, Urgency urgency) override;
  Task<Result<void>> run_read(std::shared_ptr<ReadWork> work) override;

 private:
  struct Pending;
  using Group = std::vector<std::shared_ptr<Pending>>;
  Task<void> commit_groups();
  void apply(Group& group);

  AsyncClock& clock_;
  MemoryStorage& storage_;
  Options options_;
  Group queued_;
  Group in_flight_;
  std::optional<ErrorCode> fault_;
  bool is_dead_ = false;
  bool is_committing_ = false;
  Event urgent_;  // set: somebody waits for one that is queued
  DatabaseCounters counters_;
  TaskGroup committer_;
};

}  // namespace outhaul::store
