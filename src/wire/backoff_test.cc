#include "wire/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace outhaul::wire {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, WhenFailuresGoOn_ThenWaitsGrowAndAreCapped) {
  Duration longest{};
  for (int node = 0; node < 200; ++node) {
    Backoff backoff("node_" + std::to_string(node));
    Duration bound = 500ms;
    for (int failure = 0; failure < 40; ++failure) {
      const auto wait = backoff.next();
      EXPECT_GE(wait, 0s);
      EXPECT_LE(wait, bound);
      bound = std::min<Duration>(bound * 2, 30s);
      longest = std::max(longest, wait);
    }
  }
  EXPECT_GT(longest, 25s);
}

TEST(Backoff, WhenTheSeedIsTheSame_ThenTheWaitsAreTheSame) {
  Backoff one("node_a");
  Backoff same("node_a");
  Backoff other("node_b");
  bool differs = false;
  for (int i = 0; i < 20; ++i) {
    const auto wait = one.next();
    EXPECT_EQ(wait, same.next());
    differs = differs || wait != other.next();
  }
  EXPECT_TRUE(differs);
}

// 5,000 nodes lose the hub at one moment: no tenth of a second sees more than a few percent of them.
// proves B5
TEST(Backoff, WhenThousandsLoseTheHubAtOnce_ThenTheyComeBackSpreadOut) {
  std::vector<int> arrivals(700);
  for (int node = 0; node < 5000; ++node) {
    Backoff backoff("node_" + std::to_string(node));
    Duration at{};
    // The hub stays away for 20 s: each attempt before that fails.
    do at += backoff.next();
    while (at < 20s);
    ASSERT_LT(at, 60s);
    ++arrivals[static_cast<std::size_t>(at / 100ms)];
  }

  EXPECT_LT(*std::ranges::max_element(arrivals), 100);
}

TEST(Backoff, WhenTheHubSaysWhen_ThenItIsObeyedWithinReason) {
  std::set<Duration> waits;
  for (int node = 0; node < 100; ++node) {
    Backoff backoff("node_" + std::to_string(node));
    const auto wait = backoff.next(5s);
    EXPECT_GE(wait, 5s);
    EXPECT_LE(wait, 5s + 500ms);
    waits.insert(wait);
  }
  EXPECT_GT(waits.size(), 90U);
  EXPECT_LE(Backoff("node").next(24h), 10min + 500ms);
  EXPECT_GE(Backoff("node").next(-5s), 0s);
}

TEST(Backoff, WhenASessionLasted_ThenTheNextWaitIsAFirstOne) {
  Backoff backoff("node_x");
  for (int i = 0; i < 20; ++i) backoff.next();
  backoff.note_session(30s);

  EXPECT_LE(backoff.next(), 500ms);
}

TEST(Backoff, WhenSessionsAreShort_ThenTheWaitStaysAtASecond) {
  Backoff backoff("node_x");
  for (int i = 0; i < 100; ++i) {
    backoff.next();
    backoff.note_session(1s);
    EXPECT_LE(Backoff(backoff).next(), 1s);
  }
}

}  // namespace
}  // namespace outhaul::wire
