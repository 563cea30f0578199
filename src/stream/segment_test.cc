#include "stream/segment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stream/memory_disk.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"

namespace outhaul::stream {
namespace {

constexpr const char* prefix = "seg-str-0-";
constexpr const char* first_name = "seg-str-0-0000000000000000";

class SegmentTest : public ::testing::Test {
 protected:
  static EncodedRecord output(std::uint64_t offset, std::size_t size) {
    return EncodedRecord::make(RecordKind::standard_output, offset, {},
                               Bytes(size, static_cast<char>('a' + offset % 26)));
  }
  // Six records in one file; gives where each begins in it, and its end.
  std::vector<std::uint64_t> write_six() {
    SegmentLog log(disk, prefix, 1U << 20U);
    std::vector<std::uint64_t> places;
    for (int i = 0; i < 6; ++i) {
      places.push_back(log.bytes());
      EXPECT_TRUE(log.append(output(log.end(), 10 + static_cast<std::size_t>(i))).has_value());
    }
    EXPECT_TRUE(testing::run_task(io, log.sync()).has_value());
    places.push_back(log.bytes());
    return places;
  }
  Bytes& file() { return image.files.at(first_name)->bytes; }
  std::vector<SegmentCut> load(SegmentLog& log, std::uint64_t trusted_until = 0) {
    auto cuts = log.load(*disk.list(), trusted_until);
    EXPECT_TRUE(cuts.has_value());
    return *cuts;
  }

  asio::io_context io;
  testing::ManualClock clock;
  MemoryDiskImage image;
  MemoryDisk disk{image, io.get_executor(), clock};
};

// proves X63
TEST_F(SegmentTest, WhenTheFileIsCutAtAnyByte_ThenEveryWholeRecordIsKeptAndTheCutIsReported) {
  const auto places = write_six();
  const Bytes whole = file();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    file() = whole.substr(0, size);
    SegmentLog log(disk, prefix, 1U << 20U);

    const auto cuts = load(log);

    const auto kept = static_cast<std::size_t>(std::ranges::upper_bound(places, size) - places.begin() - 1);
    EXPECT_EQ(log.bytes(), places[kept]);
    EXPECT_EQ(cuts.size(), size == places[kept] ? 0U : 1U);
    for (const auto& cut : cuts) {
      EXPECT_EQ(cut.offset, places[kept]);
      EXPECT_FALSE(cut.is_damage);
    }
    EXPECT_EQ(log.read(0, 1U << 20U, true)->bytes, places[kept]);
    EXPECT_TRUE(log.append(output(log.end(), 5)).has_value());
  }
}

TEST_F(SegmentTest, WhenAByteBeforeTheEndIsDamaged_ThenTheFileIsLeftAloneAndReadUpToThere) {
  const auto places = write_six();
  const Bytes whole = file();
  for (std::size_t at = 0; at < places[5]; ++at) {
    SCOPED_TRACE(at);
    file() = whole;
    file()[at] = static_cast<char>(file()[at] ^ 0x20);
    const Bytes damaged = file();
    SegmentLog log(disk, prefix, 1U << 20U);

    const auto cuts = load(log);

    const auto kept = static_cast<std::size_t>(std::ranges::upper_bound(places, at) - places.begin() - 1);
    ASSERT_EQ(cuts.size(), 1U);
    EXPECT_TRUE(cuts[0].is_damage);
    EXPECT_EQ(cuts[0].offset, places[kept]);
    EXPECT_EQ(log.bytes(), places[kept]);
    EXPECT_EQ(file(), damaged);
  }
}

TEST_F(SegmentTest, WhenBytesThatWereDurableAreMissing_ThenItIsDamage) {
  const auto places = write_six();
  file().resize(places[3] + 5);
  SegmentLog log(disk, prefix, 1U << 20U);

  const auto cuts = load(log, 1000);

  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_TRUE(cuts[0].is_damage);
  EXPECT_EQ(file().size(), places[3] + 5);
}

TEST_F(SegmentTest, WhenATrustedFileIsDamaged_ThenReadingNamesItAndWhere) {
  std::uint64_t end = 0;
  {
    SegmentLog log(disk, prefix, 500);
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(log.append(output(log.end(), 50)).has_value());
    ASSERT_TRUE(testing::run_task(io, log.sync()).has_value());
    end = log.end();
  }
  file()[100] = static_cast<char>(file()[100] ^ 1);
  SegmentLog log(disk, prefix, 500);
  ASSERT_TRUE(load(log, end).empty());

  const auto read = log.read(50, 10'000, true);

  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::journal_corrupt);
  EXPECT_NE(read.error().what().find(first_name), Bytes::npos);
  EXPECT_NE(read.error().what().find("82"), Bytes::npos);
  EXPECT_TRUE(log.read(end - 50, 10'000, true).has_value());
}

TEST_F(SegmentTest, WhenAPayloadHoldsRecords_ThenATornEndIsNoDamage) {
  SegmentLog log(disk, prefix, 1U << 20U);
  ASSERT_TRUE(log.append(output(0, 300)).has_value());
  const Bytes inner(output(0, 100).bytes().view());
  ASSERT_TRUE(log.append(EncodedRecord::make(RecordKind::standard_output, 300, {}, inner + inner + inner))
                  .has_value());
  file().resize(file().size() - 1);
  SegmentLog next(disk, prefix, 1U << 20U);

  const auto cuts = load(next);

  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_FALSE(cuts[0].is_damage);
  EXPECT_EQ(next.end(), 300U);
}

TEST_F(SegmentTest, WhenAFileIsFull_ThenTheNextBeginsWhereItEnds) {
  SegmentLog log(disk, prefix, 500);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(log.append(output(log.end(), 50)).has_value());

  EXPECT_GT(log.file_names().size(), 4U);
  std::uint64_t from = 0;
  while (from < log.end()) {
    const auto chunk = log.read(from, 300, true);
    ASSERT_TRUE(chunk && chunk->bytes > 0);
    EXPECT_LE(chunk->bytes, 300U);
    from = chunk->next.offset;
  }
  EXPECT_EQ(from, log.end());
}

TEST_F(SegmentTest, WhenTheUnsyncedEndOfOneFileIsLost_ThenTheFilesAfterItAreSetAside) {
  {
    SegmentLog log(disk, prefix, 500);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(log.append(output(log.end(), 50)).has_value());
  }
  file().resize(200);
  SegmentLog log(disk, prefix, 500);

  const auto cuts = load(log);

  EXPECT_EQ(log.end(), 100U);
  ASSERT_GT(cuts.size(), 1U);
  EXPECT_EQ(image.files.size(), cuts.size());
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    EXPECT_EQ(cuts[i].moved_to, "aside-1-" + cuts[i].file);
    EXPECT_TRUE(image.files.contains(cuts[i].moved_to));
  }
}

}  // namespace
}  // namespace outhaul::stream
