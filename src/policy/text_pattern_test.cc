#include "policy/text_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace outhaul::policy {
namespace {

TEST(TextPattern, WhenATextIsOfTheForm_ThenItMatchesAsAWhole) {
  struct Row {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Row rows[] = {
      {"", "", true},
      {"", "a", false},
      {"abc", "abc", true},
      {"abc", "abcd", false},
      {"abc", "xabc", false},
      {"a|bc", "bc", true},
      {"a|bc", "ac", false},
      {"(a|b)c", "bc", true},
      {"[a-z0-9_]+", "job_7", true},
      {"[a-z0-9_]+", "job 7", false},
      {"[a-z0-9_]+", "", false},
      {"[^/]*", "no-slash", true},
      {"[^/]*", "a/b", false},
      {"v\\d{1,2}\\.\\d", "v12.3", true},
      {"v\\d{1,2}\\.\\d", "v123.3", false},
      {"x{2,}", "xxxx", true},
      {"x{2,}", "x", false},
      {"x{0}", "", true},
      {"^a$", "a", true},
      {"\xff.", "\xff\xfe", true},
      {"[]a]+", "]a", true},
      {".", "\n", false},
      {"[a-c-]+", "a-b", true},
      {"a\\*", "a*", true},
      {"(ab?)*", "aabab", true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.pattern) + " <" + row.text + ">");

    const auto pattern = TextPattern::parse(row.pattern);

    ASSERT_TRUE(pattern) << pattern.error().what();
    EXPECT_EQ(pattern->matches(row.text), row.matches);
  }
}

TEST(TextPattern, WhenAPatternIsMalformed_ThenItIsRefused) {
  const std::string rows[] = {"(",   ")",      "a)",      "[a",    "[z-a]",  "*a",
                              "a|*", "a{3,2}", "a{1001}", "\\",    "\\q",    "[\\q]",
                              "(a",  "?",      "a**{2}",  "(?=a)", "(a)\\1", std::string(1025, 'a')};
  for (const auto& row : rows) {
    SCOPED_TRACE(row);
    EXPECT_FALSE(TextPattern::parse(row));
  }
}

TEST(TextPattern, WhenCountsMultiply_ThenThePatternIsRefusedAndNotUnrolled) {
  EXPECT_FALSE(TextPattern::parse("((a{256}){256}){256}"));
}

// What takes a backtracking engine longer than the age of the machine.
TEST(TextPattern, WhenTextAndPatternAreMadeToBacktrack_ThenTheAnswerComesAtOnce) {
  const auto pattern = TextPattern::parse("(a|a)*(a|aa)+b");
  ASSERT_TRUE(pattern);

  EXPECT_FALSE(pattern->matches(std::string(8000, 'a')));
  EXPECT_TRUE(pattern->matches(std::string(8000, 'a') + "b"));
}

TEST(TextPattern, WhenATextIsLongerThanTheLimit_ThenItNeverMatches) {
  const auto pattern = TextPattern::parse("a*");
  ASSERT_TRUE(pattern);

  EXPECT_FALSE(pattern->matches(std::string(TextPattern::max_text_bytes + 1, 'a')));
}

}  // namespace
}  // namespace outhaul::policy
