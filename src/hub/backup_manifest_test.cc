#include "hub/backup_manifest.h"

#include <gtest/gtest.h>

namespace outhaul::hub {
namespace {

BackupManifest some_manifest() {
  return {"example.org",
          WallTime{1'700'000'000},
          3,
          {{"hub.db", 7, std::string(64, 'a')}, {"streams/journal-1", 0, std::string(64, '0')}}};
}

TEST(BackupManifest, WhenItIsWritten_ThenItIsReadBackAsItWas) {
  const auto manifest = some_manifest();

  const auto read = parse_backup_manifest(serialise_backup_manifest(manifest));

  ASSERT_TRUE(read);
  EXPECT_EQ(*read, manifest);
}

TEST(BackupManifest, WhenItIsNotOneOfOurs_ThenACodeSaysWhy) {
  const auto whole = serialise_backup_manifest(some_manifest());
  const auto with = [&whole](const std::string& from, const std::string& to) {
    auto changed = whole;
    return changed.replace(changed.find(from), from.size(), to);
  };
  struct Row {
    const char* what;
    Bytes text;
    ErrorCode code;
  };
  const Row rows[] = {
      {"nothing", "", ErrorCode::backup_damaged},
      {"cut", whole.substr(0, whole.size() / 2), ErrorCode::backup_damaged},
      {"another program's", with("outhaul-hub backup", "photographs"), ErrorCode::backup_foreign},
      {"without a kind", "{}", ErrorCode::backup_foreign},
      {"newer", with("\"format\":1", "\"format\":2"), ErrorCode::data_format_newer},
      {"a name above", with("hub.db", "../hub.db"), ErrorCode::backup_damaged},
      {"an absolute name", with("hub.db", "/etc/passwd"), ErrorCode::backup_damaged},
      {"a name two levels down", with("streams/journal-1", "streams/a/b"), ErrorCode::backup_damaged},
      {"a name above from below", with("streams/journal-1", "streams/../x"), ErrorCode::backup_damaged},
      {"a hidden name", with("hub.db", ".hub"), ErrorCode::backup_damaged},
      {"no digest", with(std::string(64, 'a'), "aa"), ErrorCode::backup_damaged},
      {"a negative size", with("\"bytes\":7", "\"bytes\":-7"), ErrorCode::backup_damaged},
      {"more keys", with("{\"kind\"", "{\"more\":1,\"kind\""), ErrorCode::backup_damaged},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);

    const auto read = parse_backup_manifest(row.text);

    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), row.code);
  }
}

}  // namespace
}  // namespace outhaul::hub
