// What must hold of the simulation itself.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/sim/seed_test.h"

namespace outhaul::sim {
namespace {

constexpr const char* hash_only = "OUTHAUL_SIM_HASH_OF";

// The trace hash of a seed in a fresh process, where every address and every random ECDSA byte is another.
std::string hash_in_another_process(std::uint64_t seed) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    setenv(hash_only, std::to_string(seed).c_str(), 1);
    execl("/proc/self/exe", "test_sim", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 64> buffer{};
  for (ssize_t count; (count = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : "the other process failed";
}

TEST(Simulation, WhenASeedRunsInTwoProcesses_ThenTheirTracesHaveOneHash) {
  for (const std::uint64_t seed : {7U, 8U}) {
    const auto here = run_seed(seed);

    const auto there = hash_in_another_process(seed);

    EXPECT_EQ(there, std::to_string(here.trace_hash)) << "seed " << seed;
  }
}

TEST(Simulation, WhenTwoSeedsDiffer_ThenSoDoTheirTraces) {
  EXPECT_NE(run_seed(7).trace_hash, run_seed(8).trace_hash);
}

// Every seed that once found a fault: `<seed>  <what it found>`, a line each.
TEST(KeptSeeds, WhenTheyRunAgain_ThenNothingBreaks) {
  std::ifstream kept(OUTHAUL_SOURCE_DIR "/tests/sim/kept_seeds.txt");
  ASSERT_TRUE(kept.is_open());
  for (std::string line; std::getline(kept, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto outcome = run_seed(std::stoull(line));
    EXPECT_FALSE(outcome.violation) << report(outcome) << line;
  }
}

}  // namespace
}  // namespace outhaul::sim
