#include "node/node_config.h"

#include <gtest/gtest.h>

namespace outhaul::node {
namespace {

using namespace std::chrono_literals;

TEST(NodeConfig, WhenTheFileIsEmpty_ThenNothingIsAllowedAndTheDefaultsHold) {
  const auto config = parse_node_config("version: 1\n", "node.yaml");

  ASSERT_TRUE(config.has_value());
  EXPECT_TRUE(config->settings.isolation.empty());
  EXPECT_EQ(config->settings.slots, NodeSettings().slots);
  EXPECT_EQ(config->settings.spool_bytes, std::uint64_t{8} << 30U);
}

TEST(NodeConfig, WhenKeysAreGiven_ThenTheyAreRead) {
  const auto config = parse_node_config(
      "version: 1\nisolation: [trusted]\nslots: 3\nworkspace: /srv/work\nspool_mib: 100\ndrain_limit: 5s\n"
      "audit_mib: 64\n"
      "hub: https://hub.example.org:8443\npolicy: /srv/policy.yaml\nhub_may_answer: true\n",
      "node.yaml");

  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->settings.isolation, std::vector{wire::IsolationLevel::trusted});
  EXPECT_EQ(config->settings.slots, 3U);
  EXPECT_EQ(config->settings.workspace, "/srv/work");
  EXPECT_EQ(config->settings.spool_bytes, 100U << 20U);
  EXPECT_EQ(config->settings.audit_bytes, 64U << 20U);
  EXPECT_EQ(config->settings.drain_limit, Duration(5s));
  EXPECT_EQ(config->hub, "https://hub.example.org:8443");
  EXPECT_EQ(config->policy, "/srv/policy.yaml");
  EXPECT_TRUE(config->settings.hub_may_answer);
}

TEST(NodeConfig, WhenKeysAreWrong_ThenEveryFaultIsNamedWithItsLineAndNoValue) {
  const auto config = parse_node_config(
      "version: 1\nisolation: [native]\nslots: 0\nworkspace: work\nslot: 4\ndrain_limit: 10\nhub: \"hunter2 "
      "hunter2\"\npolicy: own.yaml\nhub_may_answer: perhaps\n",
      "node.yaml");

  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().code(), ErrorCode::config_invalid);
  std::string all = config.error().what();
  for (const auto& detail : config.error().details()) all += "\n" + detail.value;
  for (const char* wanted : {"node.yaml:2", "isolation", "node.yaml:3", "slots", "node.yaml:4", "workspace",
                             "node.yaml:5", "slot", "node.yaml:6", "drain_limit", "node.yaml:7", "hub",
                             "node.yaml:8", "policy", "node.yaml:9", "hub_may_answer"}) {
    EXPECT_NE(all.find(wanted), std::string::npos) << wanted << " in " << all;
  }
  EXPECT_EQ(all.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace outhaul::node
