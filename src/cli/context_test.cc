#include "cli/context.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace outhaul::cli {
namespace {

Context context(std::string name, std::string token) {
  Context made;
  made.name = std::move(name);
  made.url = "https://127.0.0.1:8443";
  made.token = Secret(std::move(token));
  made.ca_fingerprint = "sha256:00";
  return made;
}

// proves N4
TEST(ContextFile, WhenWrittenAndParsed_ThenItIsTheSame) {
  ContextFile file;
  file.put(context("first", "oht_a"));
  file.put(context("second: \"#\n", "oht_b"));

  const auto text = file.text();
  const auto read = ContextFile::parse(text.reveal_for("test"), "config.yaml");

  ASSERT_TRUE(read.has_value()) << read.error().what();
  ASSERT_EQ(read->contexts().size(), 2U);
  EXPECT_EQ(read->current(), "second: \"#\n");
  EXPECT_TRUE(read->find("first")->token.equals("oht_a"));
  EXPECT_TRUE(read->find("")->token.equals("oht_b"));
}

TEST(ContextFile, WhenTextIsWrong_ThenFileLineAndKeyAreNamed) {
  struct Row {
    const char* text;
    const char* said;
  };
  const Row rows[] = {
      {"version: 2\n", "'version' must be 1"},
      {"version: 1\ncurent: x\n", "config.yaml:2: unknown key 'curent'"},
      {"version: 1\ncontexts:\n  - name: a\n    uri: b\n", "config.yaml:4: unknown key 'uri'"},
      {"version: 1\ncontexts:\n  - name: a\n", "needs 'name' and 'url'"},
      {"version: 1\ncontexts:\n  - [a]\n", "a mapping is expected"},
      {"version: [1\n", "not readable as YAML"},
      {"- a\n", "a mapping is expected"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);

    const auto read = ContextFile::parse(row.text, "config.yaml");

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::config_invalid);
    EXPECT_NE(read.error().what().find(row.said), std::string::npos) << read.error().what();
  }
}

TEST(ContextFile, WhenSaved_ThenOnlyItsOwnerMayReadIt) {
  const auto path =
      std::filesystem::temp_directory_path() / ("outhaul-context-" + std::to_string(::getpid()));
  auto file = ContextFile::load(path / "config.yaml");
  ASSERT_TRUE(file.has_value());
  file->put(context("first", "oht_a"));

  ASSERT_TRUE(file->save().has_value());
  struct stat facts{};
  ASSERT_EQ(::stat((path / "config.yaml").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  ASSERT_EQ(::chmod((path / "config.yaml").c_str(), 0644), 0);
  const auto loose = ContextFile::load(path / "config.yaml");

  ASSERT_FALSE(loose.has_value());
  EXPECT_EQ(loose.error().code(), ErrorCode::file_permissions_loose);
  std::filesystem::remove_all(path);
}

TEST(ContextFile, WhenTheCurrentOneIsRemoved_ThenAnotherIsCurrent) {
  ContextFile file;
  file.put(context("first", "oht_a"));
  file.put(context("second", "oht_b"));

  EXPECT_TRUE(file.remove("second"));
  EXPECT_FALSE(file.remove("second"));

  EXPECT_EQ(file.current(), "first");
  EXPECT_FALSE(file.use("second"));
  EXPECT_TRUE(file.use("first"));
}

TEST(ChangeLines, WhenCommandsGoElsewhere_ThenTheWayBackIsSaid) {
  ContextFile file;
  auto before = file.outline();
  file.put(context("prod", "oht_a"));
  ASSERT_EQ(change_lines(before, file).size(), 1U);
  EXPECT_EQ(change_lines(before, file).front(), "commands now go to context 'prod' (https://127.0.0.1:8443)");

  before = file.outline();
  file.put(context("local", "oht_b"));
  EXPECT_EQ(
      change_lines(before, file).front(),
      "commands now go to context 'local' (https://127.0.0.1:8443); back to the one before: outhaul context "
      "use prod");

  before = file.outline();
  EXPECT_TRUE(change_lines(before, file).empty());
  auto moved = context("local", "oht_b");
  moved.url = "https://other:1";
  file.put(std::move(moved));
  EXPECT_EQ(change_lines(before, file).front(),
            "the context 'local' now means https://other:1; it was https://127.0.0.1:8443");

  before = file.outline();
  file.remove("local");
  EXPECT_EQ(change_lines(before, file).front(), "commands now go to context 'prod' (https://127.0.0.1:8443)");
}

}  // namespace
}  // namespace outhaul::cli
