#include "cli/usage.h"

#include <gtest/gtest.h>

namespace outhaul::cli {
namespace {

TEST(WithFlagsForWords, WhenHelpOrVersionIsAWord_ThenItIsTheFlag) {
  using Words = std::vector<std::string>;
  const std::pair<Words, Words> rows[] = {
      {{}, {}},
      {{"help"}, {"--help"}},
      {{"help", "task", "list"}, {"task", "list", "--help"}},
      {{"help", "--help"}, {"--help"}},
      {{"version"}, {"--version"}},
      {{"version", "more"}, {"version", "more"}},
      {{"run", "--", "help"}, {"run", "--", "help"}},
      {{"echo", "version"}, {"echo", "version"}},
  };
  for (const auto& [words, flags] : rows) EXPECT_EQ(with_flags_for_words(words), flags);
}

}  // namespace
}  // namespace outhaul::cli
