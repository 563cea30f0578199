// What journal and segments rely on, for every Disk.
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <functional>
#include <memory>

#include "stream/file_disk.h"
#include "stream/memory_disk.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"

namespace outhaul::stream {
namespace {

using testing::run_task;

// A disk and what it stands on.
class Stand {
 public:
  virtual ~Stand() = default;
  virtual Disk& disk() = 0;
  asio::io_context io;
};

class MemoryStand final : public Stand {
 public:
  Disk& disk() override { return disk_; }

 private:
  testing::ManualClock clock_;
  MemoryDiskImage image_;
  MemoryDisk disk_{image_, io.get_executor(), clock_};
};

class FileStand final : public Stand {
 public:
  FileStand() {
    std::string pattern = (std::filesystem::temp_directory_path() / "outhaul-disk-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    disk_ = std::make_unique<FileDisk>(io.get_executor(), directory_);
  }
  ~FileStand() override {
    disk_ = nullptr;
    std::filesystem::remove_all(directory_);
  }
  Disk& disk() override { return *disk_; }

 private:
  std::filesystem::path directory_;
  std::unique_ptr<FileDisk> disk_;
};

struct Adapter {
  const char* name;
  std::function<std::unique_ptr<Stand>()> make;
};

class DiskContract : public ::testing::TestWithParam<Adapter> {
 protected:
  std::unique_ptr<File> create(const std::string& name) {
    auto file = disk().open(name, OpenMode::create);
    EXPECT_TRUE(file.has_value());
    return file ? std::move(*file) : nullptr;
  }
  static Result<void> append(File& file, ByteView bytes) { return file.append({&bytes, 1}); }
  Disk& disk() { return stand_->disk(); }
  asio::io_context& io() { return stand_->io; }

 private:
  std::unique_ptr<Stand> stand_ = GetParam().make();
};

TEST_P(DiskContract, WhenPartsAreAppended_ThenTheyAreOneRunAtTheEnd) {
  const auto file = create("a");
  const ByteView parts[] = {"one ", "", "two ", "three"};

  ASSERT_TRUE(file->append(parts).has_value());
  ASSERT_TRUE(append(*file, "!").has_value());

  EXPECT_EQ(file->size(), 14U);
  EXPECT_EQ(*file->read_at(0, 100), "one two three!");
}

TEST_P(DiskContract, WhenThereAreManyParts_ThenNoneIsLost) {
  const auto file = create("a");
  const std::vector<ByteView> parts(1000, "0123456789");

  ASSERT_TRUE(file->append(parts).has_value());

  EXPECT_EQ(file->size(), 10'000U);
  EXPECT_EQ(*file->read_at(9990, 10), "0123456789");
}

TEST_P(DiskContract, WhenReadingBeyondTheEnd_ThenFewerBytesCome) {
  const auto file = create("a");
  ASSERT_TRUE(append(*file, "0123456789").has_value());

  EXPECT_EQ(*file->read_at(8, 5), "89");
  EXPECT_EQ(*file->read_at(10, 5), "");
  EXPECT_EQ(*file->read_at(1000, 5), "");
}

TEST_P(DiskContract, WhenTruncated_ThenAppendingGoesOnThere) {
  const auto file = create("a");
  ASSERT_TRUE(append(*file, "0123456789").has_value());

  ASSERT_TRUE(file->truncate(4).has_value());
  ASSERT_TRUE(append(*file, "x").has_value());

  EXPECT_EQ(*file->read_at(0, 100), "0123x");
}

TEST_P(DiskContract, WhenRoomIsKeptAhead_ThenSizeReadsAndCutsAreOfWhatWasAppended) {
  const auto file = create("a");
  file->keep_room_ahead(100'000);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(append(*file, Bytes(60'000, static_cast<char>('a' + i))).has_value());

  EXPECT_EQ(file->size(), 180'000U);
  EXPECT_EQ(*file->read_at(119'999, 2), "bc");
  EXPECT_EQ(*file->read_at(179'999, 10), "c");
  ASSERT_TRUE(file->truncate(4).has_value());
  ASSERT_TRUE(append(*file, "x").has_value());
  EXPECT_EQ(*file->read_at(0, 100), "aaaax");
}

// As a crash leaves it: the room that was kept ahead reads as zeros.
TEST_P(DiskContract, WhenAFileWithRoomAheadIsOpenedAgain_ThenOnlyZerosFollowWhatWasAppended) {
  {
    const auto file = create("a");
    file->keep_room_ahead(100'000);
    ASSERT_TRUE(append(*file, "kept").has_value());
    ASSERT_TRUE(run_task(io(), file->sync()).has_value());
  }

  const auto again = disk().open("a", OpenMode::existing);

  ASSERT_TRUE(again.has_value());
  const auto bytes = *(*again)->read_at(0, 1'000'000);
  EXPECT_TRUE(bytes.starts_with("kept"));
  EXPECT_EQ(bytes.find_first_not_of('\0', 4), Bytes::npos);
}

TEST_P(DiskContract, WhenAFileIsOpenedAgain_ThenItsBytesAreThere) {
  ASSERT_TRUE(append(*create("a"), "kept").has_value());

  const auto again = disk().open("a", OpenMode::existing);

  ASSERT_TRUE(again.has_value());
  EXPECT_EQ((*again)->size(), 4U);
  ASSERT_TRUE(append(**again, " and more").has_value());
  EXPECT_EQ(*(*again)->read_at(0, 100), "kept and more");
}

TEST_P(DiskContract, WhenOpenedInTheWrongMode_ThenTheCodeSaysWhy) {
  create("a");

  EXPECT_EQ(disk().open("a", OpenMode::create).error().code(), ErrorCode::conflict);
  EXPECT_EQ(disk().open("b", OpenMode::existing).error().code(), ErrorCode::not_found);
}

TEST_P(DiskContract, WhenANameIsNone_ThenItIsInvalid) {
  for (const std::string& name :
       {std::string(), std::string("../a"), std::string("a/b"), std::string(".hidden"), std::string("A"),
        std::string("1a"), std::string("a\0b", 3), std::string(129, 'a')}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(disk().open(name, OpenMode::create).error().code(), ErrorCode::invalid);
  }
}

TEST_P(DiskContract, WhenListed_ThenFilesComeSortedWithTheirSizes) {
  ASSERT_TRUE(append(*create("b"), "22").has_value());
  create("c");
  ASSERT_TRUE(append(*create("a"), "1").has_value());

  EXPECT_EQ(*disk().list(), (std::vector<FileEntry>{{"a", 1}, {"b", 2}, {"c", 0}}));
}

TEST_P(DiskContract, WhenAFileIsRemoved_ThenWhoHasItOpenReadsOn) {
  const auto file = create("a");
  ASSERT_TRUE(append(*file, "still here").has_value());

  ASSERT_TRUE(disk().remove("a").has_value());

  EXPECT_TRUE(disk().list()->empty());
  EXPECT_EQ(*file->read_at(0, 100), "still here");
  EXPECT_TRUE(run_task(io(), file->sync()).has_value());
  EXPECT_EQ(disk().remove("a").error().code(), ErrorCode::not_found);
}

TEST_P(DiskContract, WhenRenamedOntoAnother_ThenItReplacesIt) {
  ASSERT_TRUE(append(*create("a"), "new").has_value());
  ASSERT_TRUE(append(*create("b"), "old").has_value());

  ASSERT_TRUE(disk().rename("a", "b").has_value());

  EXPECT_EQ(*disk().list(), (std::vector<FileEntry>{{"b", 3}}));
  EXPECT_EQ(*(*disk().open("b", OpenMode::existing))->read_at(0, 10), "new");
  EXPECT_EQ(disk().rename("a", "c").error().code(), ErrorCode::not_found);
}

TEST_P(DiskContract, WhenManySyncAtOnce_ThenAllComplete) {
  const auto file = create("a");
  int done = 0;
  TaskGroup group(io().get_executor());
  for (int i = 0; i < 20; ++i) {
    group.spawn([&]() -> Task<void> {
      EXPECT_TRUE(append(*file, "x").has_value());
      const auto synced = co_await file->sync();
      EXPECT_TRUE(synced.has_value());
      ++done;
    });
  }

  io().restart();
  io().run();

  EXPECT_EQ(done, 20);
  EXPECT_TRUE(run_task(io(), disk().sync_directory()).has_value());
}

TEST_P(DiskContract, WhenAFileIsClosedWhileItSyncs_ThenTheSyncStillCompletes) {
  auto file = create("a");
  ASSERT_TRUE(append(*file, "x").has_value());
  bool done = false;
  TaskGroup group(io().get_executor());
  group.spawn([&]() -> Task<void> {
    const auto synced = co_await file->sync();
    done = synced.has_value();
  });
  group.spawn([&]() -> Task<void> {
    co_await asio::post(io().get_executor(), asio::use_awaitable);
    file = nullptr;
  });

  io().restart();
  io().run();

  EXPECT_TRUE(done);
}

TEST_P(DiskContract, WhenAskedForRoom_ThenItHasSome) {
  const auto free = disk().free_bytes();

  ASSERT_TRUE(free.has_value());
  EXPECT_GT(*free, 0U);
}

INSTANTIATE_TEST_SUITE_P(Adapters, DiskContract,
                         ::testing::Values(Adapter{"memory", [] { return std::make_unique<MemoryStand>(); }},
                                           Adapter{"file", [] { return std::make_unique<FileStand>(); }}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace outhaul::stream
