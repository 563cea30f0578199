// test_sim [--seeds N] [--from S] [--verbose]: every seed is one test, `Seeds.Seed_<n>`; beside them run the
// kept seeds and the tests of the simulation itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/sim/seed_test.h"

namespace outhaul::sim {
namespace {

struct Arguments {
  std::uint64_t seeds = 20;
  std::uint64_t first_seed = 1;
  bool is_verbose = false;
};

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_arguments(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--verbose") {
      arguments.is_verbose = true;
    } else if ((word == "--seeds" || word == "--from") && i + 1 < count) {
      if (!read_number(words[++i], word == "--seeds" ? arguments.seeds : arguments.first_seed)) return false;
    } else {
      return false;
    }
  }
  return true;
}

void register_seed(std::uint64_t seed, bool is_verbose) {
  const auto name = fmt::format("Seed_{}", seed);
  ::testing::RegisterTest("Seeds", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [seed, is_verbose]() -> SeedTest* { return new SeedTest(seed, is_verbose); });
}

// As a child of the test that compares two processes: prints the trace hash of one seed, and nothing else.
bool print_hash_only() {
  const char* const seed_text = std::getenv("OUTHAUL_SIM_HASH_OF");
  std::uint64_t seed = 0;
  if (seed_text == nullptr || !read_number(seed_text, seed)) return false;
  fmt::print("{}", run_seed(seed).trace_hash);
  return true;
}

}  // namespace
}  // namespace outhaul::sim

int main(int argc, char** argv) {
  if (outhaul::sim::print_hash_only()) return 0;
  // One line a seed would hide the rest.
  GTEST_FLAG_SET(brief, true);
  ::testing::InitGoogleTest(&argc, argv);
  outhaul::sim::Arguments arguments;
  if (!outhaul::sim::read_arguments(argc, argv, arguments)) {
    std::fputs("usage: test_sim [--seeds N] [--from S] [--verbose] [--gtest_...]\n", stderr);
    return 2;
  }
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) {
    outhaul::sim::register_seed(arguments.first_seed + i, arguments.is_verbose);
  }
  return RUN_ALL_TESTS();
}
