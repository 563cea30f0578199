#include "base/task_group.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "testing/manual_clock.h"
#include "testing/mortal_context.h"

namespace outhaul {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;
using testing::run_ready;

// Counts coroutines that have unwound.
struct Unwound {
  explicit Unwound(int& counter) : count(counter) {}
  Unwound(const Unwound&) = delete;
  Unwound& operator=(const Unwound&) = delete;
  ~Unwound() { ++count; }
  int& count;
};

class TaskGroupTest : public ::testing::Test {
 protected:
  void spawn_sleeper(Duration span) {
    group_->spawn([this, span]() -> Task<void> {
      const Unwound note(unwound_);
      co_await clock_.sleep_for(span);
    });
    run_ready(io_);
  }
  void spawn_thrower(Duration span) {
    group_->spawn([this, span]() -> Task<void> {
      co_await clock_.sleep_for(span);
      throw std::runtime_error("a bug");
    });
    run_ready(io_);
  }
  void start_join() {
    const auto joined = [this](const std::exception_ptr& failure) {
      is_joined_ = true;
      failure_ = failure;
    };
    asio::co_spawn(io_, group_->join(), joined);
    run_ready(io_);
  }

  ManualClock clock_;
  testing::MortalContext io_;
  std::unique_ptr<TaskGroup> group_ = std::make_unique<TaskGroup>(io_.get_executor());
  int unwound_ = 0;
  bool is_joined_ = false;
  std::exception_ptr failure_;
};

TEST_F(TaskGroupTest, WhenNothingWasSpawned_ThenJoinReturnsAtOnce) {
  start_join();

  EXPECT_TRUE(is_joined_);
  EXPECT_TRUE(group_->is_idle());
}

TEST_F(TaskGroupTest, WhenChildrenStillRun_ThenJoinWaitsForTheLast) {
  spawn_sleeper(1s);
  spawn_sleeper(5s);
  start_join();

  clock_.advance(1s);
  run_ready(io_);

  EXPECT_EQ(unwound_, 1);
  EXPECT_FALSE(is_joined_);

  clock_.advance(4s);
  run_ready(io_);

  EXPECT_TRUE(is_joined_);
  EXPECT_EQ(failure_, nullptr);
}

TEST_F(TaskGroupTest, WhenCancelled_ThenEveryChildUnwindsAndJoinReportsNoFailure) {
  for (int i = 0; i < 3; ++i) spawn_sleeper(1h);
  start_join();

  group_->cancel();
  run_ready(io_);

  EXPECT_EQ(unwound_, 3);
  EXPECT_TRUE(is_joined_);
  EXPECT_EQ(failure_, nullptr);
}

TEST_F(TaskGroupTest, WhenACoroutineHasJoinedOrIsCancelledWhileItJoins_ThenItCanStillBeCancelled) {
  for (const bool is_joining : {false, true}) {
    SCOPED_TRACE(is_joining);
    TaskGroup outer(io_.get_executor());
    bool has_joined = false;
    const int unwound_before = unwound_;
    outer.spawn([&]() -> Task<void> {
      const Unwound note(unwound_);
      TaskGroup inner(io_.get_executor());
      inner.spawn([this]() -> Task<void> { co_await clock_.sleep_for(1s); });
      co_await inner.join();
      has_joined = true;
      co_await clock_.sleep_for(1h);
    });
    run_ready(io_);
    if (!is_joining) clock_.advance(1s);
    run_ready(io_);

    outer.cancel();
    run_ready(io_);
    if (is_joining) EXPECT_FALSE(has_joined);
    clock_.advance(1s);
    run_ready(io_);

    EXPECT_TRUE(has_joined);
    EXPECT_EQ(unwound_, unwound_before + 1);
    EXPECT_TRUE(outer.is_idle());
  }
}

TEST_F(TaskGroupTest, WhenOneChildThrows_ThenSiblingsAreCancelledAndJoinRethrows) {
  spawn_sleeper(1h);
  spawn_thrower(1s);
  start_join();

  clock_.advance(1s);
  run_ready(io_);

  EXPECT_EQ(unwound_, 1);
  ASSERT_TRUE(is_joined_);
  EXPECT_THROW(std::rethrow_exception(failure_), std::runtime_error);
}

TEST_F(TaskGroupTest, WhenSpawnedAfterCancel_ThenTheChildRuns) {
  group_->cancel();

  spawn_sleeper(1s);
  clock_.advance(1s);
  run_ready(io_);

  EXPECT_EQ(unwound_, 1);
  EXPECT_TRUE(group_->is_idle());
}

TEST_F(TaskGroupTest, WhenTheProcessDies_ThenFramesAreDestroyedAndTheGroupIsIdle) {
  spawn_sleeper(1h);
  spawn_sleeper(1h);

  io_.destroy_operations();

  EXPECT_EQ(unwound_, 2);
  EXPECT_TRUE(group_->is_idle());
}

using TaskGroupDeathTest = TaskGroupTest;

TEST_F(TaskGroupDeathTest, WhenDestroyedWithLiveChildren_ThenItAborts) {
  spawn_sleeper(1h);

  EXPECT_DEATH(group_.reset(), "broken invariant");

  group_->cancel();
  run_ready(io_);
}

}  // namespace
}  // namespace outhaul
