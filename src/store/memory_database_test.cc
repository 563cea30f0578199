// What only the in-memory database can do: crash, fail on demand, and take exactly as long as told.
#include "store/memory_database.h"

#include <gtest/gtest.h>

#include "store/memory_tables.h"
#include "testing/manual_clock.h"

namespace outhaul::store {
namespace {

class MemoryDatabaseFaults : public ::testing::Test {
 protected:
  MemoryDatabaseFaults() { restart(); }
  ~MemoryDatabaseFaults() override {
    database_->crash(MemoryDatabase::InFlight::lost);
    end_process();
  }
  // Starts a transaction that sets `name`; its outcome appears in outcomes_ when it comes.
  void put(const std::string& name) {
    callers_->spawn([this, name] { return run_put(name); });
  }
  Task<void> run_put(std::string name) {
    auto work = [name](Transaction& tx) { return tx.deployment.put_setting(name, "set"); };
    outcomes_[name] = co_await database_->transact(std::move(work));
  }
  bool is_on_disk(const std::string& name) { return storage_.tables().settings.find(name) != nullptr; }
  void pass(Duration span) {
    testing::run_ready(*io_);
    clock_.advance(span);
    testing::run_ready(*io_);
  }
  // A new process on the same disk.
  void restart() {
    end_process();
    io_ = std::make_unique<asio::io_context>();
    database_ = std::make_unique<MemoryDatabase>(io_->get_executor(), clock_, storage_);
    callers_ = std::make_unique<TaskGroup>(io_->get_executor());
  }
  void end_process() {
    if (!io_) return;
    callers_->cancel();
    testing::run_ready(*io_);
    clock_.advance(std::chrono::hours(1));
    testing::run_ready(*io_);
    callers_.reset();
    database_.reset();
  }

  testing::ManualClock clock_;
  MemoryStorage storage_{"example.test", WallTime{1}};
  std::unique_ptr<asio::io_context> io_;
  std::unique_ptr<MemoryDatabase> database_;
  std::unique_ptr<TaskGroup> callers_;
  std::map<std::string, Result<void>> outcomes_;
};

constexpr auto latency = std::chrono::microseconds(400);

TEST_F(MemoryDatabaseFaults, WhenLessThanTheLatencyPassed_ThenNothingIsAcknowledgedOrThere) {
  put("a");

  pass(latency - std::chrono::nanoseconds(1));

  EXPECT_TRUE(outcomes_.empty());
  EXPECT_FALSE(is_on_disk("a"));
  pass(std::chrono::nanoseconds(1));
  EXPECT_TRUE(outcomes_.at("a"));
  EXPECT_TRUE(is_on_disk("a"));
}

TEST_F(MemoryDatabaseFaults, WhenACommitIsUnderWay_ThenLaterOnesFormTheNextGroup) {
  put("a");
  testing::run_ready(*io_);
  put("b");
  put("c");

  pass(latency);
  EXPECT_EQ(outcomes_.size(), 1U);
  pass(latency);

  EXPECT_EQ(outcomes_.size(), 3U);
  EXPECT_EQ(database_->counters().commits, 2U);
}

TEST_F(MemoryDatabaseFaults, WhenItCrashes_ThenTheGroupInFlightIsLostOrKeptAsAWhole) {
  for (const auto in_flight : {MemoryDatabase::InFlight::lost, MemoryDatabase::InFlight::kept}) {
    const std::string round = in_flight == MemoryDatabase::InFlight::kept ? "kept" : "lost";
    put(round + ".0");
    testing::run_ready(*io_);
    put(round + ".1");
    put(round + ".2");
    pass(latency);
    put(round + ".queued");
    testing::run_ready(*io_);

    database_->crash(in_flight);
    pass(latency);
    restart();

    EXPECT_TRUE(is_on_disk(round + ".0"));
    EXPECT_FALSE(outcomes_.contains(round + ".1"));
    EXPECT_FALSE(outcomes_.contains(round + ".queued"));
    EXPECT_EQ(is_on_disk(round + ".1"), round == "kept");
    EXPECT_EQ(is_on_disk(round + ".2"), round == "kept");
    EXPECT_FALSE(is_on_disk(round + ".queued"));
  }
}

TEST_F(MemoryDatabaseFaults, WhenItIsDead_ThenNoCallCompletes) {
  database_->deaden();

  put("a");
  pass(std::chrono::hours(1));

  EXPECT_TRUE(outcomes_.empty());
  EXPECT_FALSE(is_on_disk("a"));
}

TEST_F(MemoryDatabaseFaults, WhenTheDiskIsFullOrAway_ThenGroupsFailAndLeaveNothingUntilItIsBack) {
  for (const auto fault : {ErrorCode::disk_full, ErrorCode::unavailable}) {
    database_->set_fault(fault);
    put("a");
    pass(latency);

    ASSERT_FALSE(outcomes_.at("a"));
    EXPECT_EQ(outcomes_.at("a").error().code(), fault);
    EXPECT_FALSE(is_on_disk("a"));
  }
  database_->set_fault(std::nullopt);
  put("a");
  pass(latency);
  EXPECT_TRUE(outcomes_.at("a"));
}

TEST_F(MemoryDatabaseFaults, WhenTooManyWait_ThenTheNextIsExhausted) {
  put("first");
  testing::run_ready(*io_);
  for (std::size_t i = 0; i < Database::max_queued; ++i) put("w" + std::to_string(i));
  testing::run_ready(*io_);

  put("one more");
  testing::run_ready(*io_);

  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_.at("one more").error().code(), ErrorCode::exhausted);
}

}  // namespace
}  // namespace outhaul::store
