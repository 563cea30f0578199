// Each planted fault must be found within 500 seeds; a simulation that finds none of them proves nothing.
#ifdef OUTHAUL_PLANTED_FAULTS

#include <gtest/gtest.h>

#include <cstdio>

#include "base/planted_fault.h"
#include "tests/sim/seed_test.h"

namespace outhaul::sim {
namespace {

constexpr std::uint64_t most_seeds = 500;

class PlantedFault : public ::testing::TestWithParam<const char*> {
 protected:
  ~PlantedFault() override { planted_fault() = {}; }
};

TEST_P(PlantedFault, WhenItIsSwitchedOn_ThenItIsFoundWithin500Seeds) {
  planted_fault() = GetParam();

  std::optional<Outcome> found;
  for (std::uint64_t seed = 1; seed <= most_seeds && !found; ++seed) {
    auto outcome = run_seed(seed);
    if (outcome.violation) found = std::move(outcome);
  }

  ASSERT_TRUE(found) << GetParam() << " was not found";
  std::printf("%s: seed %llu breaks %s (%s)\n", GetParam(), static_cast<unsigned long long>(found->seed),
              found->violation->invariant.c_str(), found->violation->detail.c_str());
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFault,
                         ::testing::Values("ack_before_fsync", "hub_ack_before_fsync", "offset_off_by_one",
                                           "expired_accepted", "nonce_forgotten", "result_sent_before_fsync",
                                           "foreign_audience_accepted", "starting_not_durable",
                                           "duplicate_instance_admitted", "task_redispatched_elsewhere",
                                           "drop_before_ack", "audit_entry_not_chained",
                                           "audit_head_before_durable", "policy_ignored", "consent_not_bound",
                                           "lock_forgotten", "doubt_ignored", "handover_ignored",
                                           "epoch_not_raised"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace outhaul::sim

#endif
