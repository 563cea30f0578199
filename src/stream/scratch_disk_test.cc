#include "stream/scratch_disk.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "stream/memory_disk.h"
#include "testing/manual_clock.h"

namespace outhaul::stream {
namespace {

class ScratchDiskTest : public ::testing::Test {
 protected:
  void put(const std::string& name, const Bytes& bytes) {
    image.files[name] = std::make_shared<MemoryDiskImage::Content>();
    image.files[name]->bytes = bytes;
  }
  static void append(File& file, ByteView bytes) { ASSERT_TRUE(file.append({&bytes, 1}).has_value()); }

  asio::io_context io;
  testing::ManualClock clock;
  MemoryDiskImage image;
  MemoryDisk below{image, io.get_executor(), clock};
  ScratchDisk disk{below};
};

TEST_F(ScratchDiskTest, WhenAFileIsChanged_ThenTheViewHasItAndTheDiskBelowHasNot) {
  put("one", "0123456789");
  const auto file = disk.open("one", OpenMode::existing).value();

  append(*file, "abc");
  EXPECT_EQ(file->read_at(8, 4).value(), "89ab");
  EXPECT_EQ(file->read_at(11, 9).value(), "bc");
  ASSERT_TRUE(file->truncate(11).has_value());
  EXPECT_EQ(file->read_at(0, 99).value(), "0123456789a");
  ASSERT_TRUE(file->truncate(4).has_value());
  append(*file, "X");
  EXPECT_EQ(file->read_at(0, 99).value(), "0123X");
  EXPECT_EQ(file->read_at(5, 1).value(), "");

  EXPECT_EQ(image.files["one"]->bytes, "0123456789");
}

TEST_F(ScratchDiskTest, WhenNamesChange_ThenOnlyInTheView) {
  put("one", "1");
  put("two", "2");

  ASSERT_TRUE(disk.rename("one", "three").has_value());
  ASSERT_TRUE(disk.remove("two").has_value());
  ASSERT_TRUE(disk.open("new", OpenMode::create).has_value());

  const std::vector<FileEntry> seen = {{"new", 0}, {"three", 1}};
  EXPECT_EQ(disk.list().value(), seen);
  EXPECT_EQ(disk.open("three", OpenMode::existing).value()->read_at(0, 9).value(), "1");
  EXPECT_EQ(disk.open("one", OpenMode::existing).error().code(), ErrorCode::not_found);
  EXPECT_EQ(disk.open("new", OpenMode::create).error().code(), ErrorCode::conflict);
  EXPECT_EQ(image.files.size(), 2U);
  EXPECT_TRUE(image.files.contains("one"));
}

}  // namespace
}  // namespace outhaul::stream
