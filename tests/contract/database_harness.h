// An open database of either kind, and the loop that its callers live on.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/task_group.h"
#include "store/memory_database.h"
#include "store/sqlite_database.h"
#include "testing/manual_clock.h"
#include "testing/scratch_directory.h"
#include "testing/seeded_random.h"

namespace outhaul::store {

class DatabaseHarness {
 public:
  virtual ~DatabaseHarness() = default;
  virtual Database& database() = 0;
  // Closes and opens again what is on the disk.
  virtual void reopen() = 0;
  // Runs the loop until the group's coroutines have ended.
  virtual void drive(TaskGroup& group) = 0;

  template <class T>
  T finish(Task<T> task) {
    std::optional<T> value;
    TaskGroup group(io_.get_executor());
    const auto body = [&value](Task<T> inner) -> Task<void> { value = co_await std::move(inner); };
    group.spawn([&] { return body(std::move(task)); });
    drive(group);
    return std::move(*value);
  }
  Executor executor() { return io_.get_executor(); }

 protected:
  asio::io_context io_;
};

class MemoryHarness final : public DatabaseHarness {
 public:
  MemoryHarness() { open(); }
  ~MemoryHarness() override { close(); }
  Database& database() override { return *database_; }
  void reopen() override {
    close();
    open();
  }
  void drive(TaskGroup& group) override {
    for (testing::run_ready(io_); !group.is_idle(); testing::run_ready(io_))
      clock_.advance(std::chrono::microseconds(100));
  }

 private:
  void open() { database_ = std::make_unique<MemoryDatabase>(io_.get_executor(), clock_, storage_); }
  void close() {
    TaskGroup group(io_.get_executor());
    group.spawn([this] { return database_->close(); });
    drive(group);
    database_.reset();
  }

  testing::ManualClock clock_;
  MemoryStorage storage_{"example.test", WallTime{1}};
  std::unique_ptr<MemoryDatabase> database_;
};

class SqliteHarness final : public DatabaseHarness {
 public:
  SqliteHarness() { keep(SqliteDatabase::create(location_, WallTime{1})); }
  Database& database() override { return *database_; }
  void reopen() override {
    database_.reset();
    keep(SqliteDatabase::open(location_, WallTime{2}));
  }
  void drive(TaskGroup& group) override {
    while (!group.is_idle()) {
      io_.restart();
      io_.run();
    }
  }

 private:
  void keep(Result<std::unique_ptr<SqliteDatabase>> database) {
    if (!database) {
      ADD_FAILURE() << database.error().what();
      std::abort();
    }
    database_ = std::move(*database);
  }

  testing::ScratchDirectory directory_;
  SqliteLocation location_{.path = directory_.file("hub.db"), .deployment = "example.test"};
  std::unique_ptr<SqliteDatabase> database_;
};

// The fixture of the suite: one database, kind by parameter.
class DatabaseContract : public ::testing::TestWithParam<const char*> {
 protected:
  DatabaseContract() {
    if (GetParam() == std::string_view("memory")) {
      harness_ = std::make_unique<MemoryHarness>();
    } else {
      harness_ = std::make_unique<SqliteHarness>();
    }
  }
  template <class Fn>
  auto write(Fn fn) {
    return harness_->finish(database().transact(std::move(fn)));
  }
  template <class Fn>
  auto read(Fn fn) {
    return harness_->finish(database().read(std::move(fn)));
  }
  Database& database() { return harness_->database(); }
  // Ids rise with every call.
  template <class AnyId>
  AnyId next_id() {
    return AnyId::make(WallTime{++milliseconds_ * 1'000'000}, random_);
  }

  TaskRow some_task() {
    TaskRow task;
    task.id = next_id<TaskId>();
    task.owner = AccountId::assume("acc_1");
    task.stream = next_id<StreamId>();
    task.selector_json = R"({"pool":"p"})";
    task.action_summary = "true";
    task.spec = Bytes("spec\0bytes", 10);
    task.times.created_at = WallTime{100};
    return task;
  }
  TaskId add_task(const TaskRow& task) {
    EXPECT_TRUE(write([&](Transaction& tx) { return tx.tasks.add(task); }));
    return task.id;
  }
  TaskRow load_task(const TaskId& id) {
    auto found = read([&](ReadTransaction& tx) { return tx.tasks.find(id); });
    return found && *found ? **found : TaskRow();
  }

  std::unique_ptr<DatabaseHarness> harness_;
  testing::SeededRandom random_{1};
  std::int64_t milliseconds_ = 1'767'225'600'000;
};

// The code of a failure; empty for a success.
template <class T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code());
}

}  // namespace outhaul::store
