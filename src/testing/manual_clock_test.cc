#include "testing/manual_clock.h"

#include <gtest/gtest.h>

#include <string>

#include "base/task_group.h"
#include "testing/mortal_context.h"

namespace outhaul::testing {
namespace {

using namespace std::chrono_literals;

class ManualClockTest : public ::testing::Test {
 protected:
  ~ManualClockTest() override {
    group_.cancel();
    run_ready(io_);
  }
  void sleep_then_note(Duration span, char letter) {
    group_.spawn([this, span, letter]() -> Task<void> {
      co_await clock_.sleep_for(span);
      order_.push_back(letter);
    });
    run_ready(io_);
  }

  ManualClock clock_;
  asio::io_context io_;
  TaskGroup group_{io_.get_executor()};
  std::string order_;
};

TEST_F(ManualClockTest, WhenTimeHasNotComeYet_ThenNobodyWakes) {
  sleep_then_note(10s, 'a');

  clock_.advance(10s - 1ns);
  run_ready(io_);

  EXPECT_EQ(order_, "");
  EXPECT_EQ(clock_.next_wake(), clock_.now() + 1ns);
}

TEST_F(ManualClockTest, WhenSeveralAreDue_ThenTheyWakeInOrderOfTime) {
  sleep_then_note(3s, 'c');
  sleep_then_note(1s, 'a');
  sleep_then_note(2s, 'b');
  sleep_then_note(9s, 'z');

  clock_.advance(5s);
  run_ready(io_);

  EXPECT_EQ(order_, "abc");
  EXPECT_EQ(clock_.sleepers(), 1U);
}

TEST_F(ManualClockTest, WhenTheTimeIsPast_ThenSleepReturnsAtOnce) {
  sleep_then_note(0s, 'a');
  sleep_then_note(-1s, 'b');

  EXPECT_EQ(order_, "ab");
}

TEST_F(ManualClockTest, WhenASleeperIsCancelled_ThenItLeavesTheList) {
  sleep_then_note(1s, 'a');

  group_.cancel();
  run_ready(io_);

  EXPECT_EQ(clock_.sleepers(), 0U);
  EXPECT_EQ(clock_.next_wake(), std::nullopt);
}

TEST(ManualClock, WhenAProcessDiesWithItsFrames_ThenNoSleeperIsLeftBehind) {
  ManualClock clock;
  MortalContext io;
  TaskGroup group(io.get_executor());
  group.spawn([&clock]() -> Task<void> { co_await clock.sleep_for(1h); });
  run_ready(io);

  io.destroy_operations();

  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST(ManualClock, WhenTheWallClockIsStepped_ThenTheMonotonicOneStays) {
  ManualClock clock;
  const auto before = clock.now();

  clock.step_wall(-17min);

  EXPECT_EQ(clock.now(), before);
  EXPECT_EQ(clock.wall_now(), ManualClock::default_start - 17min);
}

}  // namespace
}  // namespace outhaul::testing
