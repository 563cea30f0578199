#include "base/event.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

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

TEST_F(WithinTest, WhenTheDeadlineHasPassed_ThenWhatNeedsNoWaitStillCounts) {
  event_.set();
  wait_within(-1s);

  EXPECT_EQ(outcome_, true);
}

TEST_F(WithinTest, WhenTheDeadlineHasPassed_ThenAWaitIsCancelledAtOnce) {
  wait_within(-1s);

  EXPECT_EQ(outcome_, false);
}

TEST_F(WithinTest, WhenTheTaskGivesAValueAtTheDeadline_ThenTheValueIsKept) {
  std::optional<int> value;
  group_.spawn([this, &value]() -> Task<void> {
    const auto body = [](Event& event) -> Task<int> {
      co_await event.wait();
      co_return 7;
    };
    value = co_await within(clock_, clock_.now() + 30s, body(event_));
  });
  run_ready(io_);

  event_.set();
  clock_.advance(30s);
  run_ready(io_);

  EXPECT_EQ(value, 7);
}

TEST_F(WithinTest, WhenTheTaskThrows_ThenTheFailureIsTheWholes) {
  std::string heard;
  group_.spawn([this, &heard]() -> Task<void> {
    const auto body = []() -> Task<int> { throw std::runtime_error("a bug"); };
    try {
      co_await within(clock_, clock_.now() + 30s, body());
    } catch (const std::runtime_error& failure) {
      heard = failure.what();
    }
    co_return;
  });
  run_ready(io_);

  EXPECT_EQ(heard, "a bug");
}

TEST_F(WithinTest, WhenItIsOver_ThenALaterCancellationReachesTheNextWait) {
  group_.spawn([this]() -> Task<void> {
    co_await within(clock_, clock_.now() + 30s, event_.wait_pulse());
    co_await event_.wait();
    ++woken_;
  });
  run_ready(io_);
  event_.pulse();
  run_ready(io_);

  group_.cancel();
  run_ready(io_);

  EXPECT_TRUE(group_.is_idle());
  EXPECT_EQ(woken_, 0);
}

TEST_F(WithinTest, WhenTwoAreNested_ThenTheNearerDeadlineEndsOnlyItsOwn) {
  std::optional<bool> inner;
  std::optional<bool> outer;
  group_.spawn([&]() -> Task<void> {
    const auto body = [&]() -> Task<void> {
      inner = co_await within(clock_, clock_.now() + 10s, event_.wait());
    };
    outer = co_await within(clock_, clock_.now() + 30s, body());
  });
  run_ready(io_);

  clock_.advance(10s);
  run_ready(io_);

  EXPECT_EQ(inner, false);
  EXPECT_EQ(outer, true);
  EXPECT_EQ(clock_.sleepers(), 0U);
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
