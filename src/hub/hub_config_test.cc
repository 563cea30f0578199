#include "hub/hub_config.h"

#include <gtest/gtest.h>

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> faults_of(const Error& error) {
  std::vector<std::string> faults;
  for (const auto& detail : error.details()) faults.push_back(detail.value);
  return faults;
}

TEST(HubConfig, WhenOnlyTheVersionIsGiven_ThenEverythingIsTheDefault) {
  const auto config = parse_hub_config("version: 1\n", "hub.yaml");

  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->settings.heartbeat_interval, 10s);
  EXPECT_TRUE(config->listen.empty());
}

TEST(HubConfig, WhenKeysAreGiven_ThenTheyAreRead) {
  const auto config = parse_hub_config(
      "version: 1\nlisten: '[::]:8443'\nqueue_timeout: 1h30m\nserver_names: [hub.example.org, 192.0.2.7]\n"
      "audit_mib: 100\n",
      "hub.yaml");

  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->listen, "[::]:8443");
  EXPECT_EQ(config->settings.queue_timeout, 90min);
  EXPECT_EQ(config->settings.audit_bytes, 100U << 20U);
  EXPECT_EQ(config->server_names, (std::vector<std::string>{"hub.example.org", "192.0.2.7"}));
}

// proves K11
TEST(HubConfig, WhenKeysAreUnknownOrRemoved_ThenEachIsNamedWithFileLineAndReplacement) {
  const config::RemovedKey removed[] = {{"heartbeat_seconds", "write `heartbeat_interval: 10s`"}};

  const auto config =
      parse_hub_config("version: 1\nheartbeat_seconds: 10\nlisten: nowhere\ncolour: hunter2\n",
                       "/etc/outhaul/hub.yaml", removed);

  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().code(), ErrorCode::config_invalid);
  EXPECT_EQ(faults_of(config.error()),
            (std::vector<std::string>{
                "/etc/outhaul/hub.yaml:2: `heartbeat_seconds` was removed: write `heartbeat_interval: 10s`",
                "/etc/outhaul/hub.yaml:3: `listen` must be an address and a port, such as [::]:443 or "
                "127.0.0.1:8443",
                "/etc/outhaul/hub.yaml:4: unknown key `colour`"}));
}

TEST(HubConfig, WhenAValueIsHostile_ThenTheKeyIsNamedAndTheValueIsNot) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"version: 2", "version"},
      {"listen: 127.0.0.1:8443", "version"},
      {"version: 1\nlisten: [a]", "listen"},
      {"version: 1\nlisten: {a: b}", "listen"},
      {"version: 1\nserver_names: hub", "server_names"},
      {"version: 1\nserver_names: ['*.example.org']", "server_names"},
      {"version: 1\nserver_names: [[a]]", "server_names"},
      {"version: 1\nheartbeat_interval: 10", "heartbeat_interval"},
      {"version: 1\nheartbeat_interval: -1s", "heartbeat_interval"},
      {"version: 1\nheartbeat_interval: 1ms", "heartbeat_interval"},
      {"version: 1\ndead_after: 11s", "dead_after"},
      {"version: 1\nmax_live_tasks: -1", "max_live_tasks"},
      {"version: 1\nmax_live_tasks: many", "max_live_tasks"},
      {"version: 1\ncertificate_file: /etc/cert.pem", "certificate_file"},
      {"version: 1\ncertificate_file: cert.pem\nkey_file: /k", "certificate_file"},
      {"version: 1\nlisten: 127.0.0.1:1\nlisten: 127.0.0.1:1", "listen"},
      {"version: 1\n? [a]\n: b", "a key must be a word"},
  };
  for (const auto& [text, named] : rows) {
    SCOPED_TRACE(text);

    const auto config = parse_hub_config(text, "hub.yaml");

    ASSERT_FALSE(config.has_value());
    EXPECT_EQ(config.error().code(), ErrorCode::config_invalid);
    ASSERT_FALSE(config.error().details().empty());
    EXPECT_NE(config.error().details()[0].value.find(named), std::string::npos);
  }
}

TEST(HubConfig, WhenTheTextIsNoYamlMap_ThenConfigInvalidNamesTheLine) {
  for (const std::string_view text :
       {"version: 1\n\tlisten: x", "- a\n- b", "version: [1", "just words", "a: *nowhere"}) {
    SCOPED_TRACE(text);

    const auto config = parse_hub_config(text, "hub.yaml");

    ASSERT_FALSE(config.has_value());
    EXPECT_EQ(config.error().code(), ErrorCode::config_invalid);
    EXPECT_TRUE(config.error().what().starts_with("hub.yaml:"));
  }
}

}  // namespace
}  // namespace outhaul::hub
