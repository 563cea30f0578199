#include "base/random.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

namespace outhaul {
namespace {

// Gives the numbers it was handed, as eight bytes each.
class ScriptedRandom final : public Random {
 public:
  explicit ScriptedRandom(std::deque<std::uint64_t> numbers) : numbers_(std::move(numbers)) {}
  Bytes bytes(std::size_t count) override {
    EXPECT_EQ(count, sizeof(std::uint64_t));
    Bytes drawn(count, '\0');
    std::memcpy(drawn.data(), &numbers_.front(), count);
    numbers_.pop_front();
    return drawn;
  }
  std::size_t left() const { return numbers_.size(); }

 private:
  std::deque<std::uint64_t> numbers_;
};

TEST(RandomBelow, WhenTheNumberIsInAWholeRun_ThenItsRemainderIsTaken) {
  ScriptedRandom random({25, 7});

  EXPECT_EQ(random.below(10), 5U);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(RandomBelow, WhenTheNumberIsInTheShortLastRun_ThenItIsDrawnAgain) {
  // 2^64 - 1 is 15 modulo 16: the last run of sixteen is the one that may be cut.
  ScriptedRandom random({UINT64_MAX, UINT64_MAX - 3, 9});

  EXPECT_EQ(random.below(16), 9U);
  EXPECT_EQ(random.left(), 0U);
}

TEST(RandomDeathTest, WhenTheBoundIsZero_ThenItAborts) {
  ScriptedRandom random({1});

  EXPECT_DEATH(static_cast<void>(random.below(0)), "bound > 0");
}

}  // namespace
}  // namespace outhaul
