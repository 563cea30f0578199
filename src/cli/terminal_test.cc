#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace outhaul::cli {
namespace {

TEST(Table, WhenRowsDiffer_ThenColumnsLineUp) {
  Table table({"NAME", "AGE"});
  table.add({"a-long-name", "3s"});
  table.add({"\xc3\xa9t\xc3\xa9", "12m"});

  EXPECT_EQ(table.text(true), "NAME         AGE\na-long-name  3s\n\xc3\xa9t\xc3\xa9          12m\n");
  EXPECT_EQ(table.text(false), "a-long-name  3s\n\xc3\xa9t\xc3\xa9          12m\n");
}

TEST(Shown, WhenTextHasEscapes_ThenTheTerminalNeverSeesThem) {
  EXPECT_EQ(shown("a\x1b[31mb\n\x7f"), "a?[31mb??");
  EXPECT_EQ(shown("\xc3\xa9"), "\xc3\xa9");
}

TEST(AgeText, WhenTimePasses_ThenTheUnitGrows) {
  const WallTime now{200'000LL * 1'000'000'000};

  EXPECT_EQ(age_text(now - std::chrono::seconds(59), now), "59s");
  EXPECT_EQ(age_text(now - std::chrono::minutes(59), now), "59m");
  EXPECT_EQ(age_text(now - std::chrono::hours(47), now), "47h");
  EXPECT_EQ(age_text(now - std::chrono::hours(48), now), "2d");
  EXPECT_EQ(age_text(now + std::chrono::hours(1), now), "0s");
}

}  // namespace
}  // namespace outhaul::cli
