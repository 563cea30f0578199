#include "policy/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "config/config_reader.h"

namespace outhaul::policy {
namespace {

std::vector<std::string> faults_of(const std::string& text) {
  const auto policy = parse_policy(text, "policy.yaml");
  std::vector<std::string> faults;
  if (policy) return faults;
  for (const auto& detail : policy.error().details()) faults.push_back(detail.value);
  if (faults.empty()) faults.push_back(policy.error().what());
  return faults;
}

// proves C7
TEST(ParsePolicy, WhenTheFileIsWhole_ThenEveryKeyIsRead) {
  const auto policy = parse_policy(R"(version: 1
mode: PERMISSIVE
owners: [acc_01jd0000000000000000000000]
planes: [task]
environment: [LANG, "CI_*"]
working_directories: [., build]
ask: once
ask_within: 2m
deny: [curl, /usr/bin/nc]
executables:
  - path: /usr/bin/git
    sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    ask: always
    arguments:
      - literal: clone
      - enum: [--bare, --mirror]
        optional: true
      - pattern: "https://[a-z.]+/[a-z]+"
        repeat: true
      - integer: 1..9
      - path: .
)",
                                   "policy.yaml");

  ASSERT_TRUE(policy) << policy.error().what();
  EXPECT_EQ(policy->mode, Mode::permissive);
  EXPECT_EQ(policy->owners.size(), 1U);
  EXPECT_EQ(policy->environment->size(), 2U);
  EXPECT_EQ(policy->deny.size(), 2U);
  EXPECT_EQ(policy->ask, Ask::once);
  EXPECT_EQ(policy->ask_within, std::chrono::minutes(2));
  ASSERT_EQ(policy->executables.size(), 1U);
  EXPECT_EQ(policy->executables[0].line, 11);
  EXPECT_EQ(policy->executables[0].ask, Ask::always);
}

TEST(ParsePolicy, WhenSeveralLinesAreWrong_ThenEachIsNamedWithLineAndKeyAndNoValueIsRepeated) {
  const auto faults = faults_of(R"(version: 2
mode: hunter2
ask: sometimes
askk: never
executables:
  - path: git
    arguments: [{literal: a, enum: [b]}, {}]
    extra: 1
  - sha256: beef
)");

  const std::vector<std::string> expected = {
      "policy.yaml:1: `version` must be 1",
      "policy.yaml:2: `mode` must be STRICT or PERMISSIVE",
      "policy.yaml:3: `ask` must be never, once or always",
      "policy.yaml:4: unknown key `askk`",
      "policy.yaml:6: `path` must be an absolute path",
      "policy.yaml:7: an argument has exactly one of `literal`, `enum`, `pattern`, `integer`, `path`",
      "policy.yaml:8: unknown key `extra`",
      "policy.yaml:9: `sha256` must be 64 hex digits in lower case",
      "policy.yaml:9: an executable needs its `path`",
  };
  for (const auto& line : expected) {
    EXPECT_NE(std::ranges::find(faults, line), faults.end()) << line;
  }
  for (const auto& fault : faults) EXPECT_EQ(fault.find("hunter2"), std::string::npos);
}

TEST(ParsePolicy, WhenTheFileIsHostile_ThenItIsRefused) {
  const std::string head = "version: 1\nmode: STRICT\n";
  const std::pair<const char*, std::string> rows[] = {
      {"empty", ""},
      {"no map", "- a"},
      {"no mode", "version: 1"},
      {"not YAML", "a: [b"},
      {"lower case mode", "version: 1\nmode: strict"},
      {"twice", head + "ask: once\nask: never"},
      {"deny in STRICT", head + "deny: [curl]"},
      {"deny with a relative path", "version: 1\nmode: PERMISSIVE\ndeny: [bin/curl]"},
      {"owner that is no id", head + "owners: [me]"},
      {"unknown plane", head + "planes: [kitchen]"},
      {"directory that leads out", head + "working_directories: [../other]"},
      {"absolute directory", head + "working_directories: [/etc]"},
      {"glob in the middle of a variable", head + "environment: [\"A*B\"]"},
      {"deadline of nothing", head + "ask_within: 0s"},
      {"deadline of years", head + "ask_within: 9000h"},
      {"rule that is a word", head + "executables: [/bin/ls]"},
      {"rules that are a map", head + "executables: {path: /bin/ls}"},
      {"range the wrong way round", head + "executables: [{path: /bin/ls, arguments: [{integer: 9..1}]}]"},
      {"range without end", head + "executables: [{path: /bin/ls, arguments: [{integer: 9..}]}]"},
      {"malformed pattern", head + "executables: [{path: /bin/ls, arguments: [{pattern: \"(\"}]}]"},
      {"path that leads out", head + "executables: [{path: /bin/ls, arguments: [{path: a/../..}]}]"},
      {"flag that is no flag",
       head + "executables: [{path: /bin/ls, arguments: [{literal: a, repeat: yes}]}]"},
      {"too large", head + std::string(config::ConfigReader::max_bytes, '#')},
  };
  for (const auto& [reason, text] : rows) {
    SCOPED_TRACE(reason);
    EXPECT_FALSE(faults_of(text).empty());
  }
}

// proves C7
TEST(CheckEnforceable, WhenAStrictPolicyMeetsLevelTrusted_ThenItIsRefusedWithTheReason) {
  Policy policy;
  policy.mode = Mode::strict;

  const auto refused = check_enforceable(policy, {wire::IsolationLevel::trusted});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::config_invalid);
  EXPECT_NE(refused.error().what().find("kernel"), std::string::npos);
  EXPECT_TRUE(check_enforceable(policy, {wire::IsolationLevel::native}));
  policy.mode = Mode::permissive;
  EXPECT_TRUE(check_enforceable(policy, {wire::IsolationLevel::trusted}));
}

}  // namespace
}  // namespace outhaul::policy
