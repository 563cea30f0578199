#include "node/owner/machine_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "testing/scratch_directory.h"

namespace outhaul::node {
namespace {

class MachineFilesTest : public ::testing::Test {
 protected:
  MachineFilesTest() : root_(std::filesystem::canonical(scratch_.file(""))) {
    std::filesystem::create_directories(root_ / "bin");
    std::filesystem::create_directories(root_ / "work");
    write(root_ / "bin" / "tool", "#!/usr/bin/env  sh -e\necho\n", 0755);
    write(root_ / "bin" / "data", "abc", 0644);
    std::filesystem::create_symlink("tool", root_ / "bin" / "link");
    std::filesystem::create_symlink("nowhere", root_ / "bin" / "dangling");
    std::filesystem::create_symlink("/", root_ / "work" / "out");
  }
  static void write(const std::filesystem::path& path, const std::string& content, mode_t mode) {
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
  }
  std::string at(const std::string& path) const { return (root_ / path).string(); }

  testing::ScratchDirectory scratch_;
  std::filesystem::path root_;
  MachineFiles files_;
};

// proves C7
TEST_F(MachineFilesTest, WhenAProgramIsNamedAnyhow_ThenItIsTheFileThatExecWouldRun) {
  const auto search = at("none") + "::" + at("bin");

  EXPECT_EQ(files_.find_program("tool", search, at("work")), at("bin/tool"));
  EXPECT_EQ(files_.find_program("link", search, at("work")), at("bin/tool"));
  EXPECT_EQ(files_.find_program("../bin/link", search, at("work")), at("bin/tool"));
  EXPECT_EQ(files_.find_program(at("bin/tool"), "", at("work")), at("bin/tool"));
  EXPECT_EQ(files_.find_program("tool", "bin", root_.string()), at("bin/tool"));
  for (const auto* none : {"dangling", "nothing", "../bin/nothing"}) {
    EXPECT_EQ(files_.find_program(none, search, at("work")), std::nullopt) << none;
  }
  EXPECT_EQ(files_.find_program(at("bin"), "", at("work")), std::nullopt);
}

// proves C7
TEST_F(MachineFilesTest, WhenAPathIsFollowed_ThenLinksCountAndOnlyALastPartMayBeMissing) {
  EXPECT_EQ(files_.real_path(at("work/out/etc")), "/etc");
  EXPECT_EQ(files_.real_path(at("work/new")), at("work/new"));
  EXPECT_EQ(files_.real_path(at("bin/link")), at("bin/tool"));
  for (const auto* none : {"work/new/newer", "bin/dangling", "work/new/..", "bin/data/x"}) {
    EXPECT_EQ(files_.real_path(at(none)), std::nullopt) << none;
  }
}

// proves X25
TEST_F(MachineFilesTest, WhenAFileIsReplacedOrWritten_ThenItsIdentityOrItsHashIsAnother) {
  const auto identity = files_.identity(at("bin/data"));
  const auto hash = files_.sha256(at("bin/data"));
  EXPECT_EQ(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

  write(root_ / "bin" / "other", "abc", 0644);
  std::filesystem::rename(root_ / "bin" / "other", root_ / "bin" / "data");
  EXPECT_NE(files_.identity(at("bin/data")), identity);
  EXPECT_EQ(files_.sha256(at("bin/data")), hash);
  write(root_ / "bin" / "data", "abd", 0644);
  EXPECT_NE(files_.sha256(at("bin/data")), hash);
  EXPECT_EQ(files_.sha256(at("bin")), std::nullopt);
  EXPECT_EQ(files_.sha256("/dev/zero"), std::nullopt);
}

// proves X25
TEST_F(MachineFilesTest, WhenAFileIsHeld_ThenNobodyChangesWhatIsHeld) {
  const auto held = files_.hold(at("bin/tool"));
  const auto hash = files_.sha256(at("bin/tool"));
  write(root_ / "bin" / "tool", "#!/bin/sh\necho other\n", 0755);

  ASSERT_TRUE(held && held->descriptor);
  const int descriptor = held->descriptor->number();
  char bytes[64];
  const auto count = ::pread(descriptor, bytes, sizeof bytes, 0);
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(count)), "#!/usr/bin/env  sh -e\necho\n");
  EXPECT_EQ(held->sha256, hash);
  EXPECT_EQ(held->identity, files_.identity(at("bin/tool")));
  EXPECT_LT(::pwrite(descriptor, "x", 1, 0), 0);
  EXPECT_LT(::ftruncate(descriptor, 0), 0);
  for (const auto& none : {at("bin/dangling"), at("bin"), std::string("/dev/zero")}) {
    EXPECT_FALSE(files_.hold(none).has_value()) << none;
  }
}

TEST_F(MachineFilesTest, WhenAFileIsOfTheSystem_ThenItIsHeldByItsPlace) {
  const auto shell = files_.real_path("/bin/sh");
  const auto held = files_.hold(*shell);

  ASSERT_TRUE(held.has_value());
  EXPECT_EQ(held->descriptor, nullptr);
  EXPECT_EQ(held->sha256, files_.sha256(*shell));
}

// proves X25
TEST_F(MachineFilesTest, WhenADirectoryIsHeld_ThenItIsTheOneThatStoodThere) {
  const auto held = files_.hold_directory(at("work"));
  const auto identity = files_.identity(at("work"));
  std::filesystem::rename(root_ / "work", root_ / "moved");
  std::filesystem::create_directory(root_ / "work");

  ASSERT_TRUE(held && held->descriptor);
  EXPECT_EQ(held->identity, identity);
  EXPECT_NE(files_.identity(at("work")), identity);
  EXPECT_FALSE(files_.hold_directory(at("bin/data")).has_value());
}

TEST_F(MachineFilesTest, WhenAFileIsAScript_ThenTheWordsOfItsFirstLineAreGiven) {
  EXPECT_EQ(files_.script_line(at("bin/tool")), (std::vector<std::string>{"/usr/bin/env", "sh", "-e"}));
  EXPECT_TRUE(files_.script_line(at("bin/data")).empty());
  EXPECT_TRUE(files_.script_line(at("bin/nothing")).empty());
}

}  // namespace
}  // namespace outhaul::node
