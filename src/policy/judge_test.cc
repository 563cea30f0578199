#include "policy/judge.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace outhaul::policy {
namespace {

// A machine of a few files and links.
class TableFiles final : public ProgramFiles {
 public:
  std::map<std::string, std::string> links;     // from path to path
  std::map<std::string, std::string> programs;  // path to sha256

  std::optional<std::string> find_program(const std::string& name, const std::string& search_path,
                                          const std::string& directory) const override {
    if (name.starts_with("./")) return existing(directory + name.substr(1));
    if (name.contains('/')) return existing(name);
    for (std::string_view rest = search_path; !rest.empty();) {
      const auto colon = rest.find(':');
      if (const auto found = existing(std::string(rest.substr(0, colon)) + "/" + name)) return found;
      rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
    }
    return std::nullopt;
  }
  std::optional<std::string> real_path(const std::string& path) const override {
    const auto link = links.find(path);
    return link == links.end() ? path : link->second;
  }
  std::optional<std::string> identity(const std::string& path) const override { return path; }
  std::vector<std::string> script_line(const std::string&) const override { return {}; }
  std::optional<std::string> sha256(const std::string& path) const override { return programs.at(path); }

 private:
  std::optional<std::string> existing(const std::string& path) const {
    const auto real = *real_path(path);
    return programs.contains(real) ? std::optional(real) : std::nullopt;
  }
};

class Judging : public ::testing::Test {
 protected:
  Judging() {
    files.programs = {{"/usr/bin/git", "1111"}, {"/usr/bin/ls", "22"},  {"/usr/bin/dash", "33"},
                      {"/usr/bin/sudo", "44"},  {"/bin/busybox", "55"}, {"/usr/bin/curl", "66"},
                      {"/srv/job/tool", "77"},  {"/usr/bin/env", "88"}, {"/usr/bin/python3.11", "99"},
                      {"/usr/bin/find", "00"}};
    files.links = {{"/bin/sh", "/usr/bin/dash"},        {"/usr/bin/python3", "/usr/bin/python3.11"},
                   {"/usr/bin/applet", "/bin/busybox"}, {"/srv/job/innocent", "/usr/bin/sudo"},
                   {"/srv/job/fetch", "/usr/bin/curl"}, {"/srv/job/out", "/etc"}};
    request.owner = AccountId::assume("acc_01jd0000000000000000000000");
    request.search_path = "/usr/bin:/bin";
    request.directory = "/srv/job";
  }

  Policy policy_of(const std::string& text) {
    auto policy = parse_policy("version: 1\n" + text, "policy.yaml");
    EXPECT_TRUE(policy) << policy.error().details().front().value;
    return policy ? *policy : Policy();
  }
  Verdict verdict_on(const Policy& policy, std::vector<std::string> argv) {
    request.argv = std::move(argv);
    return judge(policy, request, files);
  }

  TableFiles files;
  Request request;
};

// proves C7
TEST_F(Judging, WhenAStrictPolicyMeetsATask_ThenOnlyWhatItListsIsAllowed) {
  const auto policy = policy_of(R"(mode: STRICT
environment: [LANG, "CI_*"]
executables:
  - {path: /usr/bin/git, arguments: [{enum: [status, fetch]}, {path: ., optional: true, repeat: true}]}
  - {path: /bin/sh}
  - {path: /usr/bin/ls, sha256: 1111111111111111111111111111111111111111111111111111111111111111}
  - {path: /usr/bin/applet}
  - {path: /usr/bin/env}
)");
  struct Row {
    const char* reason;
    std::vector<std::string> argv;
    Outcome outcome;
  };
  const Row rows[] = {
      {"listed", {"git", "status"}, Outcome::allowed},
      {"listed by its path", {"/usr/bin/git", "fetch"}, Outcome::allowed},
      {"a path beneath", {"git", "status", "src", "docs"}, Outcome::allowed},
      {"other argument", {"git", "push"}, Outcome::refused},
      {"no argument", {"git"}, Outcome::refused},
      {"an option instead of a path", {"git", "status", "--exec-path=/tmp"}, Outcome::refused},
      {"a path above", {"git", "status", "../other"}, Outcome::refused},
      {"a link that leads out", {"git", "status", "out"}, Outcome::refused},
      {"an absolute path elsewhere", {"git", "status", "/etc/shadow"}, Outcome::refused},
      {"not listed", {"curl"}, Outcome::refused},
      {"not there", {"nothing"}, Outcome::refused},
      {"other content than listed", {"ls"}, Outcome::refused},
      {"a copy elsewhere", {"./tool"}, Outcome::refused},
      {"a listed name of one file", {"applet"}, Outcome::allowed},
      {"another name of the same file", {"/bin/busybox", "sh"}, Outcome::refused},
      {"a line of listed programs", {"/bin/sh", "-c", "git status | git fetch"}, Outcome::allowed},
      {"a line with one that is not", {"/bin/sh", "-c", "git status | curl x"}, Outcome::refused},
      {"the same in a substitution", {"/bin/sh", "-c", "git status \"$(curl x)\""}, Outcome::refused},
      {"arguments decided at run time", {"/bin/sh", "-c", "git $X"}, Outcome::refused},
      {"a line that cannot be read", {"/bin/sh", "-c", "$X"}, Outcome::refused},
      {"through env", {"env", "curl"}, Outcome::refused},
      {"a function of the line", {"/bin/sh", "-c", "f() { git status; }; f"}, Outcome::allowed},
      {"a function that hides a program", {"/bin/sh", "-c", "(curl() { :; }); curl x"}, Outcome::refused},
      {"sudo, always", {"sudo", "id"}, Outcome::refused},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);

    const auto verdict = verdict_on(policy, row.argv);

    EXPECT_EQ(verdict.outcome, row.outcome) << verdict.reason;
    EXPECT_FALSE(verdict.reason.empty());
  }
}

// proves C7
TEST_F(Judging, WhenAPermissivePolicyMeetsATask_ThenAllButTheDeniedAndThePrivilegedIsAllowed) {
  const auto policy = policy_of("mode: PERMISSIVE\ndeny: [curl, /srv/job/tool]\n");
  struct Row {
    const char* reason;
    std::vector<std::string> argv;
    Outcome outcome;
  };
  const Row rows[] = {
      {"anything", {"ls"}, Outcome::allowed},
      {"not there: exec says so", {"nothing"}, Outcome::allowed},
      {"denied by name", {"curl"}, Outcome::refused},
      {"denied by the name of the file behind", {"./fetch"}, Outcome::refused},
      {"denied by path", {"./tool"}, Outcome::refused},
      {"denied in a line", {"/bin/sh", "-c", "ls; 'cu'rl x"}, Outcome::refused},
      {"denied through starters", {"/bin/sh", "-c", "find . -exec env X=1 curl {} +"}, Outcome::refused},
      {"privileged", {"sudo", "id"}, Outcome::refused},
      {"privileged by path", {"/usr/bin/sudo", "id"}, Outcome::refused},
      {"privileged behind a link", {"./innocent"}, Outcome::refused},
      {"privileged and not there", {"/bin/sh", "-c", "mkfs.ext4 /dev/sda"}, Outcome::refused},
      {"a line that cannot be read", {"/bin/sh", "-c", "$X"}, Outcome::refused},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);

    const auto verdict = verdict_on(policy, row.argv);

    EXPECT_EQ(verdict.outcome, row.outcome) << verdict.reason;
  }
}

TEST_F(Judging, WhenAPolicyDependsOnNoName_ThenALineThatCannotBeReadPasses) {
  const auto policy = policy_of("mode: PERMISSIVE\n");

  EXPECT_EQ(verdict_on(policy, {"/bin/sh", "-c", "$X"}).outcome, Outcome::allowed);
}

// proves C8
TEST_F(Judging, WhenARuleAsks_ThenTheStrictestAskOfAllProgramsHolds) {
  const auto policy = policy_of(R"(mode: PERMISSIVE
ask: once
executables:
  - {path: /usr/bin/ls, ask: never}
  - {path: /usr/bin/git, ask: always}
  - {path: /bin/sh, ask: never}
)");

  EXPECT_EQ(verdict_on(policy, {"ls"}).outcome, Outcome::allowed);
  EXPECT_EQ(verdict_on(policy, {"curl"}).ask, Ask::once);
  EXPECT_EQ(verdict_on(policy, {"git", "push"}).ask, Ask::always);
  EXPECT_EQ(verdict_on(policy, {"/bin/sh", "-c", "ls; curl; git"}).ask, Ask::always);
  EXPECT_EQ(verdict_on(policy, {"/bin/sh", "-c", "ls | ls"}).outcome, Outcome::allowed);
}

TEST_F(Judging, WhenOwnerVariableDirectoryOrPlaneIsNotListed_ThenTheTaskIsRefused) {
  const auto policy = policy_of(R"(mode: PERMISSIVE
owners: [acc_01jd0000000000000000000000]
planes: [task]
environment: [LANG, "CI_*"]
working_directories: [build]
)");
  request.directory = "/srv/job/build/x";
  request.relative_directory = "build/x";
  request.set_variables = {"CI_JOB", "LANG"};
  ASSERT_EQ(verdict_on(policy, {"ls"}).outcome, Outcome::allowed) << verdict_on(policy, {"ls"}).reason;

  auto other = request;
  other.set_variables = {"LD_PRELOAD"};
  EXPECT_EQ(judge(policy, other, files).outcome, Outcome::refused);
  other = request;
  other.directory = "/srv/job";
  other.relative_directory = "";
  EXPECT_EQ(judge(policy, other, files).outcome, Outcome::refused);
  other = request;
  other.directory = "/srv/job/builder";
  other.relative_directory = "builder";
  EXPECT_EQ(judge(policy, other, files).outcome, Outcome::refused);
  other = request;
  other.plane = "console";
  EXPECT_EQ(judge(policy, other, files).outcome, Outcome::refused);
  other = request;
  other.owner = AccountId::assume("acc_01jd0000000000000000000001");
  EXPECT_EQ(judge(policy, other, files).outcome, Outcome::refused);
}

// proves C7
TEST_F(Judging, WhenAPolicyListsInterpreters_ThenEachIsNamedWithItsLine) {
  const auto policy = policy_of(R"(mode: STRICT
executables:
  - {path: /usr/bin/ls}
  - {path: /usr/bin/python3}
  - {path: /usr/bin/applet}
  - {path: /usr/bin/find}
)");

  const auto lines = list_interpreters(policy, files);

  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("line 5: /usr/bin/python3 "));
  EXPECT_TRUE(lines[1].starts_with("line 6: /usr/bin/applet "));
  EXPECT_TRUE(lines[2].starts_with("line 7: /usr/bin/find "));
}

}  // namespace
}  // namespace outhaul::policy
