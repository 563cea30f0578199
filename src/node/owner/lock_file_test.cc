#include "node/owner/lock_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "testing/scratch_directory.h"

namespace outhaul::node {
namespace {

// proves C8
TEST(LockFile, WhenItIsLocked_ThenEveryReaderSeesItUntilItIsUnlocked) {
  const testing::ScratchDirectory scratch;
  const LockFile file(scratch.file(""));
  EXPECT_EQ(file.load().value(), std::nullopt);

  const LockNotice notice{.reason = "a holiday", .since = {1'700'000'000'000'000'000}};
  ASSERT_TRUE(file.lock(notice).has_value());

  EXPECT_EQ(LockFile(scratch.file("")).load().value(), notice);
  EXPECT_TRUE(file.unlock().value());
  EXPECT_EQ(file.load().value(), std::nullopt);
  EXPECT_FALSE(file.unlock().value());
}

// proves C8
TEST(LockFile, WhenItsContentIsOdd_ThenItLocksAllTheSame) {
  const testing::ScratchDirectory scratch;
  const LockFile file(scratch.file(""));
  for (const std::string content : {"", "\n", "when?", "\xff"}) {
    SCOPED_TRACE(content);
    ASSERT_TRUE(file.lock({}).has_value());
    std::ofstream(scratch.file("locked")) << content;

    EXPECT_TRUE(file.load().value().has_value());
  }
  ::chmod(scratch.file("locked").c_str(), 0666);
  EXPECT_FALSE(file.load().has_value());
}

TEST(LockFile, WhenTheReasonIsNoLine_ThenNothingIsWritten) {
  const testing::ScratchDirectory scratch;
  const LockFile file(scratch.file(""));

  for (const auto& reason : {std::string(201, 'x'), std::string("a\nb"), std::string("\xff")}) {
    EXPECT_FALSE(file.lock({reason, {}}).has_value());
  }
  EXPECT_EQ(file.load().value(), std::nullopt);
}

}  // namespace
}  // namespace outhaul::node
