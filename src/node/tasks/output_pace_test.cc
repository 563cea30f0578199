#include "node/tasks/output_pace.h"

#include <gtest/gtest.h>

namespace outhaul::node {
namespace {

constexpr std::uint64_t mib = 1U << 20U;
using std::chrono::milliseconds;

// Writes `steps` MiB, each followed by a wait of `each` or, when that is shorter, of what patience there is.
// Gives how long all of it waited.
Duration waited_for(OutputPace& pace, std::uint64_t from, std::uint64_t steps, Duration each) {
  Duration all{};
  for (std::uint64_t written = from + mib; written <= from + steps * mib; written += mib) {
    const auto lasted = std::min(each, pace.patience(written));
    if (lasted > Duration::zero()) pace.note_wait(written, lasted);
    all += lasted;
  }
  return all;
}

TEST(OutputPace, WhenEachTurnEmptiesARingThatHoldsLess_ThenTheTurnsAddUp) {
  OutputPace pace;
  constexpr std::size_t ring_full = OutputPace::turn_bytes - 64;

  int turns = 0;
  for (int i = 0; i < 100; ++i) turns += pace.ends_turn(ring_full) ? 1 : 0;

  EXPECT_EQ(turns, 50);
}

TEST(OutputPace, WhenTheTunnelCarries25MiBASecond_ThenItIsAlwaysWaitedFor) {
  OutputPace pace;

  EXPECT_EQ(waited_for(pace, 0, 1000, milliseconds(40)), 1000 * milliseconds(40));
}

TEST(OutputPace, WhenAFastTunnelStallsOnce_ThenItIsWaitedForAndEarnsThePatienceAgain) {
  OutputPace pace;
  waited_for(pace, 0, 10, milliseconds(5));

  EXPECT_EQ(waited_for(pace, 10 * mib, 1, milliseconds(90)), milliseconds(90));
  EXPECT_EQ(waited_for(pace, 11 * mib, 10, milliseconds(5)), 10 * milliseconds(5));
  EXPECT_EQ(waited_for(pace, 21 * mib, 1, milliseconds(90)), milliseconds(90));
}

TEST(OutputPace, WhenTheTunnelIsDead_ThenItCostsLittleInEvery16MiB) {
  OutputPace pace;

  const auto waited = waited_for(pace, 0, 16 * 10, Duration::max());

  EXPECT_LE(waited, OutputPace::most_patience + 10 * OutputPace::least_patience);
}

TEST(OutputPace, WhenTheTunnelCarries10MiBASecond_ThenItIsNotWaitedForInTheLongRun) {
  OutputPace pace;

  EXPECT_LT(waited_for(pace, 0, 1000, milliseconds(100)), 1000 * milliseconds(10));
}

TEST(OutputPace, WhenTheOffsetsAreAsLargeAsTheyGet_ThenNothingOverflows) {
  OutputPace pace;

  EXPECT_EQ(pace.patience(UINT64_MAX / 2), OutputPace::most_patience);
}

}  // namespace
}  // namespace outhaul::node
