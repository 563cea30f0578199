#include "tests/sim/seed_test.h"

#include <fmt/format.h>

namespace outhaul::sim {

Outcome run_seed(std::uint64_t seed, bool is_verbose) {
  // One authority for all seeds of a process: nothing that a trace shows depends on it.
  static const SimAuthority authority;
  Simulation simulation(authority, seed, {.is_verbose = is_verbose});
  return simulation.run();
}

std::string report(const Outcome& outcome) {
  const auto simulated = std::chrono::duration<double>(outcome.simulated).count();
  std::string text = fmt::format("seed {} broke {} after {:.3f} simulated seconds\n  {}\n", outcome.seed,
                                 outcome.violation->invariant, simulated, outcome.violation->detail);
  for (const auto& line : outcome.last_lines) text += "  | " + line + "\n";
  return text + fmt::format("repeat: test_sim --seeds 1 --from {} --verbose --gtest_filter='Seeds.*'\n",
                            outcome.seed);
}

void SeedTest::TestBody() {
  const auto outcome = run_seed(seed_, is_verbose_);
  if (outcome.violation) FAIL() << report(outcome);
  EXPECT_GE(outcome.simulated, std::chrono::minutes(10));
  EXPECT_GE(outcome.crashes, 3);
  EXPECT_GE(outcome.tasks, 15U);
}

}  // namespace outhaul::sim
