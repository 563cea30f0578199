// SeedTest: one seed as a test; its failure names the seed, the invariant, and the command that repeats it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/sim/simulation.h"

namespace outhaul::sim {

Outcome run_seed(std::uint64_t seed, bool is_verbose = false);
// For people: what broke, when, after which events, and how to see it again.
std::string report(const Outcome& outcome);

class SeedTest : public ::testing::Test {
 public:
  SeedTest(std::uint64_t seed, bool is_verbose) : seed_(seed), is_verbose_(is_verbose) {}
  void TestBody() override;

 private:
  std::uint64_t seed_;
  bool is_verbose_;
};

}  // namespace outhaul::sim
