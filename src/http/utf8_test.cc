#include "http/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace outhaul::http {
namespace {

TEST(Utf8, WhenTextIsValid_ThenAllOfItIs) {
  for (const std::string_view text :
       {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(is_utf8(text));
  }
}

TEST(Utf8, WhenTextIsNot_ThenOnlyTheValidFrontCounts) {
  const std::vector<std::pair<const char*, std::string>> rows = {
      {"lone continuation", "ab\x80"},
      {"overlong slash", "ab\xc0\xaf"},
      {"overlong three bytes", "ab\xe0\x80\x80"},
      {"surrogate", "ab\xed\xa0\x80"},
      {"above the last character", "ab\xf4\x90\x80\x80"},
      {"cut off", "ab\xe2\x82"},
      {"bad tail", "ab\xe2\x82(x"},
      {"no lead byte", "ab\xff"},
  };
  for (const auto& [reason, text] : rows) {
    SCOPED_TRACE(reason);
    EXPECT_EQ(valid_utf8_prefix(text), 2U);
  }
}

}  // namespace
}  // namespace outhaul::http
