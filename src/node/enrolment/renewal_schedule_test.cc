#include "node/enrolment/renewal_schedule.h"

#include <gtest/gtest.h>

#include "testing/manual_clock.h"

namespace outhaul::node {
namespace {

using namespace std::chrono_literals;

constexpr WallTime issued = testing::ManualClock::default_start;
constexpr Duration week = 24h * 7;
const CertificateLife life{issued, issued + week};

// Both clocks, moved apart as a row says.
struct Clocks {
  wire::Now now{TimePoint(1h), issued};
  void pass(Duration span) {
    now.steady += span;
    now.wall = now.wall + span;
  }
};

// The first moment, in minutes, at which it asks; the look-again waits are walked through.
Duration first_ask(const RenewalSchedule& schedule, Clocks clocks, Duration limit = 24h * 30) {
  const auto began = clocks.now.steady;
  while (clocks.now.steady - began < limit) {
    const auto wait = schedule.wait(clocks.now);
    if (wait == Duration(0)) break;
    clocks.pass(wait);
  }
  return clocks.now.steady - began;
}

// proves A4
TEST(RenewalSchedule, WhenTwoThirdsHavePassed_ThenItAsksWithinATwentiethOfTheLife) {
  for (const Duration span : {Duration(12s), Duration(4min), week, Duration(24h * 90)}) {
    SCOPED_TRACE(span.count());
    const Clocks clocks;
    const RenewalSchedule schedule("node_1", {issued, issued + span}, clocks.now);

    const auto asked = first_ask(schedule, clocks, 24h * 100);

    EXPECT_GE(asked, span * 2 / 3);
    EXPECT_LE(asked, span * 2 / 3 + span / 20 + 1ns);
  }
}

TEST(RenewalSchedule, WhenNodesEnrolledTogether_ThenTheyDoNotAskTogether) {
  const Clocks clocks;

  const RenewalSchedule one("node_1", life, clocks.now);
  const RenewalSchedule other("node_2", life, clocks.now);
  const RenewalSchedule same("node_1", life, clocks.now);

  EXPECT_NE(one.due_age(), other.due_age());
  EXPECT_EQ(one.due_age(), same.due_age());
}

struct FoundRow {
  const char* what;
  Duration wall_since_issue;  // as the node's clock has it
  bool asks_at_once;
};

TEST(RenewalSchedule, WhenACertificateIsFoundAtStart_ThenTheWallClockSaysItsAge) {
  const FoundRow rows[] = {
      {"new", 0s, false},
      {"half its life", week / 2, false},
      {"the last day", week - 24h, true},
      {"ended while the machine slept", week + 24h * 20, true},
      {"ended long ago: the hub will say so", week * 50, true},
      {"the clock is an hour slow", -1h, false},
      {"the clock stands in 1970: the hub will refuse the certificate, and that hastens",
       -issued.nanoseconds * 1ns, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const wire::Now now{TimePoint(1h), issued + row.wall_since_issue};

    const RenewalSchedule schedule("node_1", life, now);

    EXPECT_EQ(schedule.wait(now) == Duration(0), row.asks_at_once);
  }
}

struct StepRow {
  const char* what;
  Duration steady;
  Duration wall;
  bool asks;
};

// proves X34
TEST(RenewalSchedule, WhenTheClocksDisagree_ThenTheOneThatIsAheadIsBelieved) {
  const StepRow rows[] = {
      {"both say six days", 24h * 6, 24h * 6, true},
      {"the machine slept for six days", 1h, 24h * 6, true},
      {"the wall clock was set back by a month", 24h * 6, -24h * 30, true},
      {"the wall clock was set ahead by 17 minutes", 1h, 1h + 17min, false},
      {"neither", 24h, 24h, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Clocks clocks;
    RenewalSchedule schedule("node_1", life, clocks.now);
    schedule.note_renewed(life, clocks.now);

    const wire::Now later{clocks.now.steady + row.steady, clocks.now.wall + row.wall};

    EXPECT_EQ(schedule.wait(later) == Duration(0), row.asks);
  }
}

TEST(RenewalSchedule, WhenTheHubsClockIsNotOurs_ThenARenewedCertificateIsNotAskedForAgainAtOnce) {
  Clocks clocks;
  clocks.now.wall = issued + 17min;
  const CertificateLife brief{issued, issued + 4min};
  RenewalSchedule schedule("node_1", brief, clocks.now);
  ASSERT_EQ(schedule.wait(clocks.now), Duration(0));

  schedule.note_renewed(brief, clocks.now);

  EXPECT_GE(first_ask(schedule, clocks), 4min * 2 / 3);
}

TEST(RenewalSchedule, WhenAttemptsFail_ThenThePausesGrowToAnHour) {
  Clocks clocks;
  RenewalSchedule schedule("node_1", life, clocks.now);
  clocks.pass(24h * 6);
  Duration before{};
  for (int attempt = 0; attempt < 12; ++attempt) {
    SCOPED_TRACE(attempt);
    schedule.note_failed(false, clocks.now);

    const auto pause = first_ask(schedule, clocks);

    const auto bound = std::min<Duration>(1h, 30s * (1 << attempt));
    EXPECT_GE(pause, bound / 2);
    EXPECT_LE(pause, bound);
    EXPECT_GE(2 * pause, before);
    before = pause;
    clocks.pass(pause);
  }
}

TEST(RenewalSchedule, WhenTheLifeIsShort_ThenManyAttemptsFitIntoItsLastThird) {
  Clocks clocks;
  const CertificateLife brief{issued, issued + 4min};
  RenewalSchedule schedule("node_1", brief, clocks.now);
  clocks.pass(4min * 2 / 3 + 12s);
  int attempts = 0;
  for (; clocks.now.wall < brief.expires_at; ++attempts) {
    schedule.note_failed(false, clocks.now);
    clocks.pass(std::max<Duration>(first_ask(schedule, clocks), 1ms));
  }

  EXPECT_GE(attempts, 4);
}

TEST(RenewalSchedule, WhenTheHubWillNot_ThenTheFirstPauseIsALongOne) {
  Clocks clocks;
  RenewalSchedule schedule("node_1", life, clocks.now);
  clocks.pass(24h * 6);

  schedule.note_failed(true, clocks.now);

  EXPECT_GE(first_ask(schedule, clocks), 30min);
}

TEST(RenewalSchedule, WhenItIsHastened_ThenItAsksAtOnceButNeverWithinAPause) {
  Clocks clocks;
  RenewalSchedule schedule("node_1", life, clocks.now);
  ASSERT_GT(schedule.wait(clocks.now), Duration(0));

  schedule.hasten();
  EXPECT_EQ(schedule.wait(clocks.now), Duration(0));

  schedule.note_failed(false, clocks.now);
  schedule.hasten();
  EXPECT_GE(schedule.wait(clocks.now), 15s);

  clocks.pass(30s);
  EXPECT_EQ(schedule.wait(clocks.now), Duration(0));
  schedule.note_renewed(life, clocks.now);
  EXPECT_EQ(schedule.wait(clocks.now), RenewalSchedule::longest_wait);
}

TEST(RenewalSchedule, WhenACertificateEndsBeforeItBegins_ThenNothingOverflows) {
  Clocks clocks;
  RenewalSchedule schedule("node_1", {issued, issued - 1h}, clocks.now);

  EXPECT_EQ(schedule.wait(clocks.now), Duration(0));
  schedule.note_failed(false, clocks.now);
  EXPECT_GE(schedule.wait(clocks.now), Duration(0));
}

}  // namespace
}  // namespace outhaul::node
