#include "base/time_text.h"

#include <gtest/gtest.h>

namespace outhaul {
namespace {

TEST(TimeText, WhenGivenNanoseconds_ThenItIsUtcWithMilliseconds) {
  const std::pair<std::int64_t, std::string_view> rows[] = {
      {0, "1970-01-01T00:00:00.000Z"},
      {1'772'368'496'789'999'999, "2026-03-01T12:34:56.789Z"},
      {-1, "1969-12-31T23:59:59.999Z"},
      {951'782'400'000'000'000, "2000-02-29T00:00:00.000Z"},
  };
  for (const auto& [nanoseconds, text] : rows) EXPECT_EQ(time_text({nanoseconds}), text);
}

}  // namespace
}  // namespace outhaul
