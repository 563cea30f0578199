#include "audit/log_reader.h"

#include <gtest/gtest.h>

#include "stream/memory_disk.h"
#include "testing/audit_chain.h"
#include "testing/manual_clock.h"

namespace outhaul::audit {
namespace {

class LogReaderTest : public ::testing::Test {
 protected:
  LogReaderTest() {
    for (int i = 0; i < 30; ++i) {
      if (i % 7 == 6) chain.begin_file();
      AuditEntry entry(i % 3 == 0 ? AuditAction::task_ended : AuditAction::task_accepted, "acc_a",
                       "task_" + std::to_string(i));
      if (i % 5 == 0) entry = std::move(entry).refused_by(Error(ErrorCode::node_full, "full"));
      entry.time = {1000 + i};
      chain.add_entry(std::move(entry));
      if (i % 4 == 0) chain.add_checkpoint();
    }
    for (const auto& [name, bytes] : chain.files())
      image.files[name] = std::make_shared<stream::MemoryDiskImage::Content>(bytes, 0);
  }
  std::vector<std::uint64_t> read_all(const EntryFilter& filter, std::size_t limit) {
    LogReader reader(disk);
    std::vector<std::uint64_t> sequences;
    LogCursor cursor;
    while (true) {
      const auto page = reader.read_page(cursor, filter, limit).value();
      EXPECT_LE(page.entries.size(), limit);
      for (const auto& read : page.entries) sequences.push_back(read.sequence);
      if (!page.has_more) return sequences;
      cursor = parse_cursor(cursor_text(page.next)).value();
    }
  }

  asio::io_context io;
  testing::ManualClock clock;
  testing::AuditChain chain;
  stream::MemoryDiskImage image;
  stream::MemoryDisk disk{image, io.get_executor(), clock};
};

TEST_F(LogReaderTest, WhenReadInPagesOfAnySize_ThenEachEntryComesOnceInOrder) {
  const auto all = read_all({}, 1000);
  ASSERT_EQ(all.size(), 30U);
  EXPECT_TRUE(std::ranges::is_sorted(all));
  for (const std::size_t limit : {1U, 2U, 7U, 29U}) EXPECT_EQ(read_all({}, limit), all);
}

TEST_F(LogReaderTest, WhenFiltered_ThenOnlyWhatIsWantedComes) {
  EntryFilter ended;
  ended.action = "task.ended";
  EntryFilter group;
  group.action = "task.";
  EntryFilter refused;
  refused.outcome = "refused";
  EntryFilter one;
  one.subject = "task_12";
  EntryFilter recent;
  recent.since = {1025};
  recent.until = {1027};
  EntryFilter nobody;
  nobody.actor = "acc_b";

  EXPECT_EQ(read_all(ended, 4).size(), 10U);
  EXPECT_EQ(read_all(group, 4).size(), 30U);
  EXPECT_EQ(read_all(refused, 4).size(), 6U);
  EXPECT_EQ(read_all(one, 4).size(), 1U);
  EXPECT_EQ(read_all(recent, 4).size(), 3U);
  EXPECT_TRUE(read_all(nobody, 4).empty());
}

TEST_F(LogReaderTest, WhenACursorsOffsetIsWrong_ThenThePlaceIsFoundAllTheSame) {
  LogReader reader(disk);
  const auto right = reader.read_page({9, 0}, {}, 3).value();

  for (const std::uint64_t offset : {1U, 64U, 65U, 500U, 1'000'000U}) {
    const auto page = reader.read_page({9, offset}, {}, 3).value();
    ASSERT_EQ(page.entries.size(), right.entries.size());
    EXPECT_EQ(page.entries[0].sequence, right.entries[0].sequence);
  }
  EXPECT_TRUE(reader.read_page({100'000, 64}, {}, 3).value().entries.empty());
}

TEST_F(LogReaderTest, WhenAllIsRead_ThenTheRecordsAreThoseOfTheFiles) {
  LogReader reader(disk);
  LogCursor at;
  Bytes all;
  while (true) {
    const auto block = reader.read_records(at).value();
    if (block.empty()) break;
    all += block;
  }
  Bytes expected;
  for (const auto& record : chain.records()) expected += record;

  EXPECT_EQ(all, expected);
}

TEST_F(LogReaderTest, WhenTheOldestFilesAreGone_ThenReadingBeginsWithWhatIsKept) {
  disk.remove(chain.files().begin()->first).value();
  LogReader reader(disk);

  const auto front = reader.read_front().value();
  const auto page = reader.read_page({}, {}, 1).value();

  EXPECT_GT(front.before.sequence, 0U);
  EXPECT_EQ(front.incarnation, chain.incarnation());
  ASSERT_EQ(page.entries.size(), 1U);
  EXPECT_EQ(page.entries[0].sequence, front.before.sequence + 1);
}

TEST(LogCursor, WhenItIsNoPlace_ThenItIsRefused) {
  for (const char* text : {"", "x", "-", "1-", "-1", "1-x", "1 2", "99999999999999999999-0", "1-2-3"})
    EXPECT_FALSE(parse_cursor(text).has_value()) << text;
  EXPECT_EQ(parse_cursor("7").value(), (LogCursor{7, 0}));
}

}  // namespace
}  // namespace outhaul::audit
