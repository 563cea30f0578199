#include "cli/option_text.h"

#include <gtest/gtest.h>

namespace outhaul::cli {
namespace {

TEST(CheckDuration, WhenTheUnitIsMissing_ThenItSaysHowToWriteIt) {
  for (const auto* good : {"30s", "1h30m", "250ms", "7d"}) EXPECT_TRUE(check_duration(good)) << good;
  const std::pair<const char*, const char*> rows[] = {
      {"30", "`30` is no time span: write 30s (units"},
      {"", "`` is no time span: write 30s, 5m or 1h30m"},
      {"soon", "`soon` is no time span"},
      {"-3s", "`-3s` is no time span"},
      {"3\x1b", "`3?` is no time span"},
  };
  for (const auto& [text, said] : rows) {
    const auto judged = check_duration(text);

    ASSERT_FALSE(judged) << text;
    EXPECT_EQ(judged.error().what().find(said), 0U) << judged.error().what();
  }
}

TEST(CheckOffset, WhenItIsNoCount_ThenItIsRefused) {
  for (const auto* good : {"0", "18446744073709551615"}) EXPECT_TRUE(check_offset(good)) << good;
  for (const auto* bad : {"-1", "", "1k", " 1", "+1", "18446744073709551616", "0x10"})
    EXPECT_FALSE(check_offset(bad)) << bad;
}

}  // namespace
}  // namespace outhaul::cli
