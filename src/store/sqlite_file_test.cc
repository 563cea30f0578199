#include "store/sqlite_file.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "store/migrations/migrations.h"
#include "store/sqlite_transaction.h"
#include "testing/scratch_directory.h"

namespace outhaul::store {
namespace {

using Files = std::map<std::string, Bytes>;

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, ByteView bytes) { std::ofstream(path, std::ios::binary) << bytes; }

class SqliteFile : public ::testing::Test {
 protected:
  // A database with some rows, complete in its main file.
  void make_database() {
    ASSERT_TRUE(make_sqlite_file(location_, WallTime{5}));
    change_database([](SqliteConnection& connection) {
      SqliteStores stores(connection);
      ASSERT_TRUE(connection.run_script("BEGIN"));
      for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(stores.deployment.put_setting("setting." + std::to_string(i), Bytes(300, 's')));
      }
      ASSERT_TRUE(connection.run_script("COMMIT"));
    });
  }
  // Runs `steps` on an ordinary connection, which merges its log when it closes.
  template <class Steps>
  void change_database(Steps steps) {
    auto connection = SqliteConnection::open(location_.path, SqliteConnection::Mode::write);
    ASSERT_TRUE(connection) << connection.error().what();
    steps(*connection);
  }
  // Name and bytes of every file of the directory.
  Files files() const {
    Files found;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.file(""))) {
      found[entry.path().filename()] = read_file(entry.path());
    }
    return found;
  }
  // What open and check answer; neither may change a byte.
  void expect_refused_untouched(ErrorCode code, const std::string& words) {
    const auto before = files();
    const auto checked = check_sqlite(location_);
    const auto opened = SqliteDatabase::open(location_, WallTime{6});
    ASSERT_FALSE(checked);
    ASSERT_FALSE(opened);
    EXPECT_EQ(checked.error().code(), code) << checked.error().what();
    EXPECT_EQ(opened.error().code(), code) << opened.error().what();
    EXPECT_NE(opened.error().what().find(words), std::string::npos) << opened.error().what();
    EXPECT_EQ(files(), before);
  }

  testing::ScratchDirectory directory_;
  SqliteLocation location_{.path = directory_.file("hub.db"), .deployment = "example.test"};
};

// proves K5
TEST_F(SqliteFile, WhenNothingIsThere_ThenCreateBindsItOnceForItsOwnerAlone) {
  ASSERT_TRUE(SqliteDatabase::create(location_, WallTime{5}));

  const auto report = check_sqlite(location_);
  ASSERT_TRUE(report) << report.error().what();
  EXPECT_EQ(report->deployment,
            (Deployment{.name = "example.test", .hub_epoch = 1, .created_at = WallTime{5}}));
  EXPECT_EQ(report->migrations_applied, static_cast<int>(migrations().size()));
  EXPECT_EQ(report->migrations_pending, 0);
  EXPECT_TRUE(report->was_checked_whole);
  struct stat status{};
  ASSERT_EQ(::stat(location_.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

// proves K5
TEST_F(SqliteFile, WhenTheFileHoldsSomething_ThenCreateLeavesItUntouched) {
  const std::vector<Bytes> contents = {"x", "not a database, but somebody's letters", Bytes(8192, '\0')};
  for (const auto& content : contents) {
    write_file(location_.path, content);
    const auto before = files();

    const auto created = SqliteDatabase::create(location_, WallTime{6});

    ASSERT_FALSE(created);
    EXPECT_EQ(created.error().code(), ErrorCode::conflict);
    EXPECT_EQ(files(), before);
  }
  std::filesystem::remove(location_.path);
  make_database();
  const auto before = files();
  EXPECT_FALSE(SqliteDatabase::create(location_, WallTime{6}));
  EXPECT_EQ(files(), before);
}

// proves K5
TEST_F(SqliteFile, WhenAnInitWasCutOff_ThenOpenRefusesAndCreateTakesTheBlankFile) {
  write_file(location_.path, "");
  change_database([](SqliteConnection&) {});
  expect_refused_untouched(ErrorCode::store_corrupt, "init");

  EXPECT_TRUE(SqliteDatabase::create(location_, WallTime{7}));
}

TEST_F(SqliteFile, WhenTheFileIsMissingOrEmpty_ThenNothingIsRecreated) {
  expect_refused_untouched(ErrorCode::store_corrupt, "docs/runbooks/store-corrupt.md");
  EXPECT_FALSE(std::filesystem::exists(location_.path));

  write_file(location_.path, "");
  expect_refused_untouched(ErrorCode::store_corrupt, "docs/runbooks/store-corrupt.md");
}

TEST_F(SqliteFile, WhenTheFileIsDamaged_ThenItIsStoreCorruptAndUntouched) {
  make_database();
  const auto whole = read_file(location_.path);
  constexpr std::size_t page_bytes = 4096;
  ASSERT_GT(whole.size(), 16 * page_bytes);
  const auto with_damage = [&](std::size_t at, std::size_t count) {
    auto damaged = whole;
    for (std::size_t i = at; i < at + count; ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    return damaged;
  };
  const std::map<std::string, Bytes> damages = {
      {"cut within the header", whole.substr(0, 60)},
      {"cut within a page", whole.substr(0, whole.size() - 1000)},
      {"cut by one byte", whole.substr(0, whole.size() - 1)},
      {"half of the pages", whole.substr(0, whole.size() / 2)},
      {"first page only", whole.substr(0, page_bytes)},
      {"magic overwritten", with_damage(0, 16)},
      {"schema page overwritten", with_damage(100, 200)},
      {"page overwritten", with_damage(whole.size() - page_bytes, page_bytes)},
      {"text", "this was never a database, whatever its name says"},
      {"zeros", Bytes(whole.size(), '\0')},
  };
  for (const auto& [reason, bytes] : damages) {
    SCOPED_TRACE(reason);
    write_file(location_.path, bytes);
    expect_refused_untouched(ErrorCode::store_corrupt, "docs/runbooks/store-corrupt.md");
  }
}

TEST_F(SqliteFile, WhenARollbackJournalLiesBesideIt_ThenItIsNotRolledBack) {
  make_database();
  write_file(location_.path + "-journal", "hot");

  expect_refused_untouched(ErrorCode::store_corrupt, "rollback journal");
}

// proves K5
TEST_F(SqliteFile, WhenItBelongsToAnotherDeploymentOrProgram_ThenItIsForeignAndUntouched) {
  make_database();
  location_.deployment = "other.test";
  expect_refused_untouched(ErrorCode::store_foreign, "docs/runbooks/store-foreign.md");

  location_.deployment = "example.test";
  change_database(
      [](SqliteConnection& connection) { ASSERT_TRUE(connection.run_script("PRAGMA application_id = 7")); });
  expect_refused_untouched(ErrorCode::store_foreign, "another program");
}

// proves O8
TEST_F(SqliteFile, WhenTheChainOfMigrationsIsNotOurs_ThenItIsRefusedUntouchedAndTheRunbookNamed) {
  struct Row {
    const char* reason;
    const char* sql;
    ErrorCode code;
  };
  const std::vector<Row> rows = {
      {"another text under our number", "UPDATE migrations SET sha256 = 'ab' WHERE number = 1",
       ErrorCode::store_foreign},
      {"a number that we never had", "UPDATE migrations SET number = 0 WHERE number = 1",
       ErrorCode::store_foreign},
      {"no chain at all", "DROP TABLE migrations", ErrorCode::store_foreign},
      {"a newer version's", "INSERT INTO migrations VALUES (999, 'later', 'cd', 1)",
       ErrorCode::data_format_newer},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    std::filesystem::remove(location_.path);
    make_database();
    change_database([&](SqliteConnection& connection) { ASSERT_TRUE(connection.run_script(row.sql)); });

    expect_refused_untouched(row.code, "docs/runbooks/store-foreign.md");
  }
}

// proves K5
TEST_F(SqliteFile, WhenAKilledHubLeftALog_ThenCheckReadsItAndChangesNoByte) {
  make_database();
  testing::ScratchDirectory killed;
  change_database([&](SqliteConnection& connection) {
    SqliteStores stores(connection);
    ASSERT_TRUE(stores.deployment.raise_hub_epoch(0));
    // What the disk holds when the process is killed here.
    for (const auto* const suffix : {"", "-wal", "-shm"}) {
      std::filesystem::copy_file(location_.path + suffix, killed.file(std::string("hub.db") + suffix));
    }
  });
  for (const auto* const missing : {"", "-shm"}) {
    if (*missing != '\0') std::filesystem::remove(killed.file(std::string("hub.db") + missing));
    const SqliteLocation location{.path = killed.file("hub.db"), .deployment = "example.test"};
    const auto before = read_file(location.path) + read_file(location.path + "-wal");

    const auto report = check_sqlite(location);

    ASSERT_TRUE(report) << report.error().what();
    EXPECT_EQ(report->deployment.hub_epoch, 2U);
    EXPECT_EQ(read_file(location.path) + read_file(location.path + "-wal"), before);
  }
}

// proves K5
TEST_F(SqliteFile, WhenAHubIsServing_ThenCheckSaysThatItIsLocked) {
  const auto serving = SqliteDatabase::create(location_, WallTime{5});
  ASSERT_TRUE(serving);

  const auto report = check_sqlite(location_);

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::data_locked);
}

TEST_F(SqliteFile, WhenThePathHoldsUnusualBytes_ThenItIsStillOneFile) {
  location_.path = directory_.file("a b?c#d%41'\xd1\x83.db");

  ASSERT_TRUE(SqliteDatabase::create(location_, WallTime{5}));

  EXPECT_TRUE(check_sqlite(location_));
  EXPECT_TRUE(std::filesystem::exists(location_.path));
}

}  // namespace
}  // namespace outhaul::store
