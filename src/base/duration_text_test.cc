#include "base/duration_text.h"

#include <gtest/gtest.h>

namespace outhaul {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, WhenWellFormed_ThenItRoundTrips) {
  const std::pair<std::string_view, std::chrono::nanoseconds> rows[] = {
      {"250ms", 250ms}, {"30s", 30s},      {"5m", 5min}, {"1h30m", 90min}, {"2h3s4ms", 2h + 3s + 4ms},
      {"0s", 0s},       {"3650d", 87600h}, {"7d", 168h}, {"1d12h", 36h},
  };
  for (const auto& [text, span] : rows) {
    SCOPED_TRACE(text);

    const auto parsed = parse_duration(text);

    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(*parsed, span);
    EXPECT_EQ(duration_text(span), text);
  }
}

TEST(DurationText, WhenAnythingElse_ThenInvalidAndNotEchoed) {
  const std::string_view rows[] = {"",
                                   "30",
                                   "s",
                                   "-1s",
                                   "1.5s",
                                   "1S",
                                   "1 s",
                                   "30s ",
                                   " 30s",
                                   "1s1s",
                                   "1m1h",
                                   "1w",
                                   "1us",
                                   "9223372036854775808s",
                                   "87601h",
                                   "87600h1ms",
                                   "9223372036854775807h",
                                   "0x1s"};
  for (const auto text : rows) {
    SCOPED_TRACE(text);

    const auto parsed = parse_duration(text);

    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code(), ErrorCode::invalid);
    EXPECT_EQ(parsed.error().what().find("87601"), std::string::npos);
  }
}

TEST(DurationText, WhenFinerThanMilliseconds_ThenItIsCut) { EXPECT_EQ(duration_text(1500us), "1ms"); }

}  // namespace
}  // namespace outhaul
