#include "base/event.h"

#include <gtest/gtest.h>

#include "base/task_group.h"
#include "base/within.h"
#include "testing/manual_clock.h"

namespace outhaul {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;
using testing::run_ready;

class EventTest : public ::testing::Test {
 protected:
  ~EventTest() override {
    group_.cancel();
    run_ready(io_);
  }
  void spawn_waiter() {
    group_.spawn([this]() -> Task<void> {
      co_await event_.wait();
      ++woken_;
    });
    run_ready(io_);
  }
  void spawn_pulse_waiter() {
    group_.spawn([this]() -> Task<void> {
      co_await event_.wait_pulse();
      ++woken_;
    });
    run_ready(io_);
  }

  ManualClock clock_;
  asio::io_context io_;
  Event event_{io_.get_executor()};
  TaskGroup group_{io_.get_executor()};
  int woken_ = 0;
};

TEST_F(EventTest, WhenSet_ThenEveryWaiterWakesAndLaterOnesPassAtOnce) {
  spawn_waiter();
  spawn_waiter();

  event_.set();
  run_ready(io_);
  spawn_waiter();

  EXPECT_EQ(woken_, 3);
}

TEST_F(EventTest, WhenReset_ThenWaitersWaitAgain) {
  event_.set();
  event_.reset();

  spawn_waiter();

  EXPECT_EQ(woken_, 0);
}

TEST_F(EventTest, WhenResetBeforeTheWaiterRan_ThenItGoesOnWaiting) {
  spawn_waiter();

  event_.set();
  event_.reset();
  run_ready(io_);

  EXPECT_EQ(woken_, 0);
}

TEST_F(EventTest, WhenPulsed_ThenOnlyThoseWhoWaitedWakeAndTheEventStaysUnset) {
  spawn_pulse_waiter();

  event_.pulse();
  run_ready(io_);
  spawn_pulse_waiter();

  EXPECT_EQ(woken_, 1);
  EXPECT_FALSE(event_.is_set());
}

TEST_F(EventTest, WhenPulsed_ThenWaitersForSetGoOnWaiting) {
  spawn_waiter();

  event_.pulse();
  run_ready(io_);

  EXPECT_EQ(woken_, 0);
}

TEST_F(EventTest, WhenTheWaiterIsCancelled_ThenItUnwindsWithoutWaking) {
  spawn_waiter();
  spawn_pulse_waiter();

  group_.cancel();
  run_ready(io_);

  EXPECT_EQ(woken_, 0);
  EXPECT_TRUE(group_.is_idle());
}

class WithinTest : public EventTest {
 protected:
  void wait_within(Duration span) {
    group_.spawn([this, span]() -> Task<void> {
      outcome_ = co_await within(clock_, clock_.now() + span, event_.wait());
    });
    run_ready(io_);
  }
  std::optional<bool> outcome_;
};

TEST_F(WithinTest, WhenTheTaskEndsInTime_ThenTheDeadlineIsForgotten) {
  wait_within(30s);

  event_.set();
  run_ready(io_);

  EXPECT_EQ(outcome_, true);
  EXPECT_EQ(clock_.sleepers(), 0U);
}

TEST_F(WithinTest, WhenTheDeadlineComesFirst_ThenTheTaskIsCancelled) {
  wait_within(30s);

  clock_.advance(30s);
  run_ready(io_);

  EXPECT_EQ(outcome_, false);
  event_.set();
  EXPECT_EQ(run_ready(io_), 0U);
}

TEST_F(WithinTest, WhenTheWholeIsCancelled_ThenNeitherOutcomeIsReported) {
  wait_within(30s);

  group_.cancel();
  run_ready(io_);

  EXPECT_EQ(outcome_, std::nullopt);
  EXPECT_TRUE(group_.is_idle());
}

}  // namespace
}  // namespace outhaul
