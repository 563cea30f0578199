#include "node/tasks/stint.h"

#include <gtest/gtest.h>

namespace outhaul::node {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{};

struct Step {
  Duration at;
  Stint::Work work;
  bool is_over;
};

void walk(Stint::Limits limits, std::initializer_list<Step> steps) {
  Stint stint(limits, start);
  for (const auto& step : steps) {
    SCOPED_TRACE(step.at.count());
    stint.note(step.work, start + step.at);
    EXPECT_EQ(stint.is_over(start + step.at), step.is_over);
  }
}

// proves A11
TEST(Stint, WhenSoManyTasksAreDelivered_ThenItIsOverAndNotBefore) {
  walk({2, {}}, {{0s, {0, 0}, false},
                 {1s, {1, 1}, false},
                 {2s, {1, 0}, false},
                 {3s, {2, 1}, false},
                 {1h, {2, 1}, false},
                 {2h, {2, 0}, true}});
}

// proves A11
TEST(Stint, WhenNothingCameForTheIdleTime_ThenItIsOver) {
  walk({{}, 10s}, {{0s, {0, 0}, false}, {9s, {0, 0}, false}, {10s, {0, 0}, true}});
  walk({{}, 10s},
       {{9s, {1, 1}, false}, {1h, {1, 1}, false}, {1h + 1s, {1, 0}, false}, {1h + 10s, {1, 0}, true}});
  // One that came and went between two looks.
  walk({{}, 10s}, {{9s, {1, 0}, false}, {18s, {1, 0}, false}, {19s, {1, 0}, true}});
}

TEST(Stint, WhenBothLimitsAreSet_ThenTheFirstEndsIt) {
  walk({1, 10s}, {{1s, {1, 0}, true}});
  walk({1, 10s}, {{10s, {0, 0}, true}});
}

TEST(Stint, WhenNoLimitIsSet_ThenTimeNeverEndsIt) {
  const Stint stint({}, start);
  EXPECT_FALSE(stint.is_over(start + 24h * 365));
  EXPECT_GT(stint.next_look(start), start);
}

}  // namespace
}  // namespace outhaul::node
