#include "store/sqlite_writer.h"

#include <filesystem>
#include <functional>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "store/sqlite_file.h"
#include "store/sqlite_transaction.h"
#include "testing/scratch_directory.h"

namespace outhaul::store {
namespace {

using Step = std::function<Result<void>(Transaction&)>;

class StepWork final : public WriteWork {
 public:
  explicit StepWork(Step step) : step_(std::move(step)) {}
  Result<void> run(Transaction& tx) override { return step_(tx); }

 private:
  Step step_;
};

Step put(std::string name, std::size_t bytes) {
  return [=](Transaction& tx) { return tx.deployment.put_setting(name, Bytes(bytes, 'v')); };
}

class Writer : public ::testing::Test {
 protected:
  Writer() { EXPECT_TRUE(make_sqlite_file({.path = path_, .deployment = "example.test"}, WallTime{1})); }
  SqliteConnection open() { return std::move(*SqliteConnection::open(path_, SqliteConnection::Mode::write)); }
  // Commits one group; gives the outcomes in the order of its steps.
  std::vector<std::optional<ErrorCode>> commit(SqliteWriter& writer, const std::vector<Step>& steps) {
    Group<Transaction> group;
    for (const auto& step : steps) {
      group.push_back(
          std::make_shared<Pending<Transaction>>(io_.get_executor(), std::make_shared<StepWork>(step)));
    }
    writer.commit(group);
    std::vector<std::optional<ErrorCode>> codes;
    for (const auto& pending : group) {
      codes.push_back(pending->outcome ? std::nullopt : std::optional(pending->outcome.error().code()));
    }
    return codes;
  }
  bool is_on_disk(const std::string& name) {
    auto connection = open();
    SqliteStores stores(connection);
    return stores.deployment.find_setting(name)->has_value();
  }

  asio::io_context io_;
  testing::ScratchDirectory directory_;
  std::string path_ = directory_.file("hub.db");
  SqliteCounters counters_;
};

// A limit on pages is to SQLite what a full disk is.
TEST_F(Writer, WhenTheDiskIsFull_ThenWhatIsReportedHoldsAndWritingGoesOnWhenThereIsRoom) {
  auto limited = open();
  const auto pages = limited.number("PRAGMA page_count");
  ASSERT_TRUE(pages);
  ASSERT_TRUE(limited.run_script(("PRAGMA max_page_count = " + std::to_string(*pages + 4)).c_str()));
  SqliteWriter writer(std::move(limited), counters_);
  const std::vector<std::string> names = {"small", "large", "after"};

  const auto codes = commit(writer, {put(names[0], 10), put(names[1], 60'000), put(names[2], 10)});

  EXPECT_EQ(codes[1], ErrorCode::disk_full);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(is_on_disk(names[i]), !codes[i]) << names[i];
  EXPECT_EQ(commit(writer, {put("later", 10)}), std::vector<std::optional<ErrorCode>>{std::nullopt});
  EXPECT_TRUE(is_on_disk("later"));
}

TEST_F(Writer, WhenAPageIsDamagedUnderIt_ThenTheGroupFailsAndNothingMoreIsWritten) {
  {
    auto connection = open();
    SqliteWriter writer(std::move(connection), counters_);
    for (int i = 0; i < 100; ++i) commit(writer, {put("setting." + std::to_string(i), 2000)});
  }
  SqliteWriter writer(open(), counters_);
  std::filesystem::resize_file(path_, 2 * 4096);

  const auto codes = commit(writer, {put("setting.50", 10), put("setting.99", 10)});

  EXPECT_EQ(codes[0], ErrorCode::store_corrupt);
  EXPECT_EQ(codes[1], ErrorCode::store_corrupt);
  const auto never_run = [](Transaction&) -> Result<void> {
    ADD_FAILURE() << "it was run";
    return {};
  };
  EXPECT_EQ(commit(writer, {never_run}), std::vector{std::optional(ErrorCode::store_corrupt)});
  EXPECT_EQ(std::filesystem::file_size(path_), 2U * 4096U);
}

TEST_F(Writer, WhenAnotherProcessHoldsTheLock_ThenTheGroupIsExhaustedAndTheNextIsTried) {
  auto patient = open();
  ASSERT_TRUE(patient.run_script("PRAGMA busy_timeout = 0"));
  SqliteWriter writer(std::move(patient), counters_);
  auto other = open();
  ASSERT_TRUE(other.run_script("BEGIN IMMEDIATE"));

  EXPECT_EQ(commit(writer, {put("a", 1)}), std::vector{std::optional(ErrorCode::exhausted)});

  ASSERT_TRUE(other.run_script("ROLLBACK"));
  EXPECT_EQ(commit(writer, {put("a", 1)}), std::vector<std::optional<ErrorCode>>{std::nullopt});
}

}  // namespace
}  // namespace outhaul::store
