#include "crypto/data_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "crypto/data_files.h"

namespace outhaul::crypto {
namespace {

namespace fs = std::filesystem;

class DataDirectoryTest : public ::testing::Test {
 protected:
  DataDirectoryTest() {
    std::string name = (fs::temp_directory_path() / "outhaul-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root = name;
    path = root / "state" / "hub";
  }
  ~DataDirectoryTest() override { fs::remove_all(root); }

  void make() { ASSERT_TRUE(DataDirectory::create_or_open(path, DataOwner::hub).has_value()); }
  ErrorCode open_error(DataOwner owner = DataOwner::hub) const {
    const auto opened = DataDirectory::open(path, owner);
    return opened ? ErrorCode::internal : opened.error().code();
  }

  fs::path root;
  fs::path path;
};

TEST_F(DataDirectoryTest, WhenItIsMissing_ThenCreateMakesItPrivateWithItsFormat) {
  const auto created = DataDirectory::create_or_open(path, DataOwner::hub);

  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(created->format(), DataDirectory::current_format);
  EXPECT_EQ(created->file("identity"), path / "identity");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  EXPECT_EQ(*read_trusted_file(path / "FORMAT", 100), "outhaul-hub 1\n");
}

TEST_F(DataDirectoryTest, WhenItIsMissing_ThenOpenFailsAndMakesNothing) {
  EXPECT_EQ(open_error(), ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(path));

  fs::create_directories(path);
  fs::permissions(path, fs::perms::owner_all);
  EXPECT_EQ(open_error(), ErrorCode::not_found);
  EXPECT_TRUE(fs::is_empty(path));
}

TEST_F(DataDirectoryTest, WhenAnEmptyOneStandsThere_ThenItIsTakenAndTightened) {
  fs::create_directories(path);
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);

  ASSERT_TRUE(DataDirectory::create_or_open(path, DataOwner::node).has_value());

  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
}

TEST_F(DataDirectoryTest, WhenAnInterruptedStartLeftItsFiles_ThenTheNextOneGoesOn) {
  fs::create_directories(path);
  ASSERT_TRUE(write_private_file(path / "LOCK", "123\n").has_value());
  ASSERT_TRUE(write_private_file(path / ".FORMAT.a1b2c3", "outh").has_value());

  EXPECT_TRUE(DataDirectory::create_or_open(path, DataOwner::hub).has_value());
}

TEST_F(DataDirectoryTest, WhenItHoldsSomebodyElsesFiles_ThenItIsRefusedAndUntouched) {
  fs::create_directories(path);
  ASSERT_TRUE(write_public_file(path / "thesis.txt", "x").has_value());
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);

  const auto created = DataDirectory::create_or_open(path, DataOwner::hub);

  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().code(), ErrorCode::conflict);
  EXPECT_EQ(std::distance(fs::directory_iterator(path), fs::directory_iterator()), 1);
  EXPECT_NE(fs::status(path).permissions(), fs::perms::owner_all);
}

TEST_F(DataDirectoryTest, WhenItIsHeld_ThenASecondOpenerIsToldByWhom) {
  auto held = DataDirectory::create_or_open(path, DataOwner::hub);
  ASSERT_TRUE(held.has_value());

  const auto second = DataDirectory::open(path, DataOwner::hub);

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), ErrorCode::data_locked);
  EXPECT_NE(second.error().what().find("process " + std::to_string(::getpid())), std::string::npos);
  EXPECT_EQ(second.error().details().front().value, std::to_string(::getpid()));
}

TEST_F(DataDirectoryTest, WhenTheHolderIsGone_ThenItCanBeOpenedAgain) {
  auto held = std::optional(DataDirectory::create_or_open(path, DataOwner::hub));
  ASSERT_TRUE(held->has_value());
  auto moved = std::optional(std::move(**held));
  held.reset();
  EXPECT_EQ(open_error(), ErrorCode::data_locked);

  moved.reset();

  EXPECT_TRUE(DataDirectory::open(path, DataOwner::hub).has_value());
}

TEST_F(DataDirectoryTest, WhenFormatIsAnythingElse_ThenTheFaultIsNamedAndNothingIsRecreated) {
  make();
  const std::map<std::string, ErrorCode> rows = {
      {"outhaul-hub 2\n", ErrorCode::data_format_newer},
      {"outhaul-hub 2000000000\n", ErrorCode::data_format_newer},
      {"outhaul-node 1\n", ErrorCode::invalid},
      {"outhaul-node 2\n", ErrorCode::invalid},
      {"", ErrorCode::store_corrupt},
      {"outhaul-hub 1", ErrorCode::store_corrupt},
      {"outhaul-hub \n", ErrorCode::store_corrupt},
      {"outhaul-hub 0\n", ErrorCode::store_corrupt},
      {"outhaul-hub -1\n", ErrorCode::store_corrupt},
      {"outhaul-hub 1 \n", ErrorCode::store_corrupt},
      {"outhaul-hub 1\n\n", ErrorCode::store_corrupt},
      {"outhaul-hub 99999999999999999999\n", ErrorCode::store_corrupt},
      {"postgres 1\n", ErrorCode::store_corrupt},
      {std::string("outhaul-hub 1\0\n", 15), ErrorCode::store_corrupt},
      {std::string(65, 'x'), ErrorCode::too_large},
  };
  for (const auto& [text, code] : rows) {
    SCOPED_TRACE(text);
    ASSERT_TRUE(write_public_file(path / "FORMAT", text).has_value());

    const auto opened = DataDirectory::create_or_open(path, DataOwner::hub);

    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), code);
    EXPECT_EQ(*read_trusted_file(path / "FORMAT", 100), text);
  }
}

// proves A10
TEST_F(DataDirectoryTest, WhenOthersMayEnter_ThenItIsRefusedWithTheRemedy) {
  make();
  for (const mode_t mode : {0755U, 0750U, 0770U, 0707U, 0701U}) {
    SCOPED_TRACE(mode);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto opened = DataDirectory::open(path, DataOwner::hub);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), ErrorCode::file_permissions_loose);
    EXPECT_NE(opened.error().what().find("chmod 700 " + path.string()), std::string::npos);
  }
}

TEST_F(DataDirectoryTest, WhenAFileStandsInItsPlace_ThenItIsRefused) {
  fs::create_directories(path.parent_path());
  ASSERT_TRUE(write_private_file(path, "x").has_value());

  EXPECT_EQ(open_error(), ErrorCode::invalid);
  EXPECT_FALSE(DataDirectory::create_or_open(path, DataOwner::hub).has_value());
}

TEST_F(DataDirectoryTest, WhenLockIsALink_ThenItIsNotFollowed) {
  make();
  fs::remove(path / "LOCK");
  fs::create_symlink(root / "elsewhere", path / "LOCK");

  EXPECT_EQ(open_error(), ErrorCode::unavailable);
  EXPECT_FALSE(fs::exists(root / "elsewhere"));
}

}  // namespace
}  // namespace outhaul::crypto
