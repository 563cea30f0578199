#include "wire/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace outhaul::wire {
namespace {

struct Row {
  const char* reason;
  std::string text;
};

TEST(IsUtf8, WhenEverySequenceIsWellFormed_ThenItHolds) {
  const Row rows[] = {
      {"empty", ""},
      {"ASCII with NUL", std::string("a\0b", 3)},
      {"first and last of two bytes", "\xc2\x80\xdf\xbf"},
      {"first and last of three bytes", "\xe0\xa0\x80\xef\xbf\xbf"},
      {"beside the surrogates", "\xed\x9f\xbf\xee\x80\x80"},
      {"first and last of four bytes", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);

    EXPECT_TRUE(is_utf8(row.text));
  }
}

TEST(IsUtf8, WhenAnySequenceIsNot_ThenItDoesNotHold) {
  const Row rows[] = {
      {"a tail alone", "a\x80"},
      {"cut two bytes", "\xc3"},
      {"cut three bytes", "\xe2\x82"},
      {"cut four bytes", "\xf0\x9f\x92"},
      {"a lead in place of a tail", "\xc3\xc3"},
      {"ASCII in place of a tail", "\xe2(\xa1"},
      {"overlong NUL", "\xc0\x80"},
      {"overlong slash", "\xc1\xaf"},
      {"overlong of three bytes", "\xe0\x9f\xbf"},
      {"overlong of four bytes", "\xf0\x8f\xbf\xbf"},
      {"first surrogate", "\xed\xa0\x80"},
      {"last surrogate", "\xed\xbf\xbf"},
      {"above the last character", "\xf4\x90\x80\x80"},
      {"a lead that no character has", "\xf5\x80\x80\x80"},
      {"0xff", "\xff"},
      {"a bad third byte", "\xe2\x82\x7f"},
      {"a bad fourth byte", "\xf0\x9f\x92\xc0"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);

    EXPECT_FALSE(is_utf8(row.text));
    EXPECT_FALSE(is_utf8("before" + row.text));
  }
}

TEST(PrintableUtf8, WhenTextIsHostile_ThenOnlyHarmlessCharactersAreLeft) {
  const auto text = printable_utf8("a\x1b[31m\n\xff\xc3\xa9\x7f", 100);

  EXPECT_EQ(text, "a [31m ?\xc3\xa9 ");
}

TEST(PrintableUtf8, WhenTheLimitFallsInACharacter_ThenTheCharacterIsLeftOut) {
  EXPECT_EQ(printable_utf8("ab\xc3\xa9", 3), "ab");
  EXPECT_EQ(printable_utf8("ab\xc3\xa9", 4), "ab\xc3\xa9");
}

}  // namespace
}  // namespace outhaul::wire
