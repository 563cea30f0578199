#include "crypto/data_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace outhaul::crypto {
namespace {

namespace fs = std::filesystem;

class DataFiles : public ::testing::Test {
 protected:
  DataFiles() {
    std::string name = (fs::temp_directory_path() / "outhaul-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory = name;
    path = directory / "identity";
  }
  ~DataFiles() override { fs::remove_all(directory); }

  static mode_t mode_of(const fs::path& file) {
    struct stat facts{};
    EXPECT_EQ(::lstat(file.c_str(), &facts), 0);
    return facts.st_mode & 07777U;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
  }

  fs::path directory;
  fs::path path;
};

// proves A2
TEST_F(DataFiles, WhenAPrivateFileIsWritten_ThenItsModeIs0600WhateverTheUmaskAndNothingElseIsLeft) {
  const auto umask_before = ::umask(0);
  ASSERT_TRUE(write_private_file(path, "key").has_value());
  ::umask(umask_before);

  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(read_private_file(path, 100)->reveal_for("test"), "key");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(DataFiles, WhenAPublicFileIsWritten_ThenItsModeIs0644WhateverTheUmask) {
  const auto umask_before = ::umask(077);
  ASSERT_TRUE(write_public_file(path, "certificate").has_value());
  ::umask(umask_before);

  EXPECT_EQ(mode_of(path), 0644U);
  EXPECT_EQ(*read_trusted_file(path, 100), "certificate");
}

// proves A2
TEST_F(DataFiles, WhenAFileIsReplaced_ThenAnOpenReaderKeepsTheOldOneWhole) {
  ASSERT_TRUE(write_private_file(path, "old").has_value());
  std::ifstream reader(path);

  ASSERT_TRUE(write_private_file(path, "new and longer").has_value());
  std::string seen;
  reader >> seen;

  EXPECT_EQ(seen, "old");
  EXPECT_EQ(read_private_file(path, 100)->reveal_for("test"), "new and longer");
}

// proves A10
TEST_F(DataFiles, WhenAnIdentityStandsAlready_ThenItIsNotReplaced) {
  ASSERT_TRUE(create_private_file(path, "first").has_value());

  const auto second = create_private_file(path, "second");

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), ErrorCode::identity_exists);
  EXPECT_EQ(read_private_file(path, 100)->reveal_for("test"), "first");
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(DataFiles, WhenADanglingLinkStandsThere_ThenNothingIsCreatedBehindIt) {
  fs::create_symlink(directory / "elsewhere", path);

  const auto created = create_private_file(path, "key");

  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().code(), ErrorCode::identity_exists);
  EXPECT_FALSE(fs::exists(directory / "elsewhere"));
}

// proves A10
TEST_F(DataFiles, WhenOthersHaveAccess_ThenThePrivateFileIsRefusedWithTheRemedy) {
  ASSERT_TRUE(write_private_file(path, "hunter2").has_value());
  for (const mode_t mode : {0644U, 0640U, 0604U, 0660U, 0606U, 0610U, 0601U, 0666U, 0777U}) {
    SCOPED_TRACE(mode);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);

    const auto read = read_private_file(path, 100);

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::file_permissions_loose);
    EXPECT_NE(read.error().what().find("chmod 600 " + path.string()), std::string::npos);
    EXPECT_EQ(read.error().what().find("hunter2"), std::string::npos);
  }
}

// proves A10
TEST_F(DataFiles, WhenOthersMayOnlyRead_ThenTheTrustedFileIsTaken) {
  ASSERT_TRUE(write_public_file(path, "policy").has_value());
  for (const mode_t mode : {0600U, 0400U, 0644U, 0640U, 0755U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_TRUE(read_trusted_file(path, 100).has_value()) << mode;
  }
  for (const mode_t mode : {0664U, 0646U, 0666U, 0620U, 0602U}) {
    SCOPED_TRACE(mode);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto read = read_trusted_file(path, 100);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::file_permissions_loose);
    EXPECT_NE(read.error().what().find("chmod go-w " + path.string()), std::string::npos);
  }
}

// proves A10
TEST_F(DataFiles, WhenTheFileIsAnotherUsers_ThenItIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  ASSERT_TRUE(write_private_file(path, "key").has_value());
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);

  const auto read = read_private_file(path, 100);

  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::file_permissions_loose);
  EXPECT_NE(read.error().what().find("chown 0 " + path.string()), std::string::npos);
}

TEST_F(DataFiles, WhenASymbolicLinkStandsThere_ThenItIsNotReadAndAWriteReplacesIt) {
  const auto target = directory / "target";
  ASSERT_TRUE(write_private_file(target, "target").has_value());
  fs::create_symlink(target, path);

  const auto read = read_private_file(path, 100);
  const auto written = write_private_file(path, "key");

  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::file_permissions_loose);
  ASSERT_TRUE(written.has_value());
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(read_private_file(target, 100)->reveal_for("test"), "target");
}

TEST_F(DataFiles, WhenItIsNoRegularFile_ThenItIsInvalidAndNothingWaits) {
  const auto fifo = directory / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);

  for (const auto& odd : {fifo, directory}) {
    const auto read = read_private_file(odd, 100);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::invalid);
  }
}

TEST_F(DataFiles, WhenTheFileIsLargerThanAllowed_ThenItIsTooLarge) {
  ASSERT_TRUE(write_private_file(path, std::string(100, 'k')).has_value());

  EXPECT_TRUE(read_private_file(path, 100).has_value());
  const auto read = read_private_file(path, 99);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::too_large);
}

TEST_F(DataFiles, WhenThereIsNoFileOrDirectory_ThenItIsNotFoundAndNamed) {
  const auto read = read_private_file(path, 100);
  const auto written = write_private_file(directory / "missing" / "identity", "key");

  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::not_found);
  EXPECT_NE(read.error().what().find(path.string()), std::string::npos);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code(), ErrorCode::not_found);
}

TEST_F(DataFiles, WhenThePathNeedsQuoting_ThenTheRemedyCanBePasted) {
  const auto odd = directory / "my key's; rm";
  ASSERT_TRUE(write_public_file(odd, "key").has_value());

  const auto read = read_private_file(odd, 100);

  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().what().find("chmod 600 '" + directory.string() + "/my key'\\''s; rm'"),
            std::string::npos);
}

TEST_F(DataFiles, WhenTheContentsHoldNulAndMuch_ThenTheyComeBackWhole) {
  const auto bytes = std::string("a\0b", 3) + std::string(300'000, 'x');
  ASSERT_TRUE(write_private_file(path, bytes).has_value());

  EXPECT_EQ(read_private_file(path, 1U << 20U)->reveal_for("test"), bytes);
}

}  // namespace
}  // namespace outhaul::crypto
