#include "node/node_config.h"

#include <gtest/gtest.h>

#include "crypto/user_key.h"
#include "testing/seeded_random.h"

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

// proves C6
TEST(NodeConfig, WhenAPersonsSignatureIsAskedFor_ThenTheirKeysAreRead) {
  testing::SeededRandom random(5);
  const auto key = crypto::SigningKey::generate(random).verify_key();
  const auto account = AccountId::make(WallTime{1}, random);
  const auto line = crypto::user_key_text(key);

  const auto config =
      parse_node_config("version: 1\nrequire_user_signature: true\nuser_keys:\n  - key: " + line +
                            "\n    name: alice\n  - key: " + line + "\n    account: " + account.text() + "\n",
                        "node.yaml");

  ASSERT_TRUE(config.has_value()) << config.error().what();
  ASSERT_TRUE(config->settings.users.has_value());
  ASSERT_EQ(config->settings.users->size(), 2U);
  EXPECT_EQ(config->settings.users->front().key.key.public_key(), key.public_key());
  EXPECT_TRUE(config->settings.users->front().account.is_empty());
  EXPECT_EQ(config->settings.users->back().account, account);
  EXPECT_FALSE(parse_node_config("version: 1\n", "node.yaml")->settings.users.has_value());
}

// proves C6
TEST(NodeConfig, WhenWhoMaySignIsUnclear_ThenTheNodeDoesNotStart) {
  testing::SeededRandom random(5);
  const auto key =
      "  - key: " + crypto::user_key_text(crypto::SigningKey::generate(random).verify_key()) + "\n";
  const std::pair<std::string, const char*> rows[] = {
      {"require_user_signature: true\n", "node.yaml:2: `require_user_signature` names nobody"},
      {"require_user_signature: true\nuser_keys: []\n", "names nobody"},
      {"user_keys:\n" + key, "node.yaml:2: `user_keys` has no effect"},
      {"require_user_signature: false\nuser_keys:\n" + key, "has no effect"},
      {"require_user_signature: maybe\nuser_keys:\n" + key, "true or false"},
      {"require_user_signature: true\nuser_keys:\n" + key + "  - name: bob\n",
       "node.yaml:5: a trusted person"},
      {"require_user_signature: true\nuser_keys:\n" + key + "  - key: hunter2\n",
       "node.yaml:5: `key` must be"},
      {"require_user_signature: true\nuser_keys:\n" + key + "    account: alice\n", "`account` must be"},
      {"require_user_signature: true\nuser_keys:\n" + key + "    role: admin\n", "role"},
  };
  for (const auto& [text, wanted] : rows) {
    SCOPED_TRACE(text);

    const auto config = parse_node_config("version: 1\n" + text, "node.yaml");

    ASSERT_FALSE(config.has_value());
    std::string all;
    for (const auto& detail : config.error().details()) all += detail.value + "\n";
    EXPECT_NE(all.find(wanted), std::string::npos) << all;
    EXPECT_EQ(all.find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace outhaul::node
