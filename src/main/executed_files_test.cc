#include "main/executed_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "crypto/digest.h"
#include "sandbox/process_launcher.h"
#include "testing/scratch_directory.h"

namespace outhaul {
namespace {

class ExecutedFilesTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const std::filesystem::path path = under(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  sandbox::ProcessSpec spec(std::string program) {
    sandbox::ProcessSpec spec;
    spec.argv = {std::move(program)};
    spec.environment = {"HOME=/", "PATH=relative:" + under("a") + "::" + under("b")};
    spec.directory = std::filesystem::path(under("x")).parent_path().string();
    return spec;
  }
  std::string under(const std::string& name) { return scratch.file(name); }

  testing::ScratchDirectory scratch;
  ExecutedFiles files;
};

TEST_F(ExecutedFilesTest, WhenANameIsLookedUp_ThenTheFirstExecutableOfThePathIsNamedWithItsDigest) {
  write("a/tool", "not executable", 0644);
  write("b/tool", "the tool");
  write("relative/local", "beside the work");

  const auto tool = files.find(spec("tool"));
  const auto local = files.find(spec("local"));

  EXPECT_EQ(tool.path, under("b/tool"));
  EXPECT_EQ(tool.sha256, crypto::sha256("the tool"));
  EXPECT_EQ(local.path, under("relative/local"));
  EXPECT_TRUE(files.find(spec("missing")).path.empty());
}

TEST_F(ExecutedFilesTest, WhenAPathIsGiven_ThenItIsTakenFromTheWorkingDirectory) {
  write("bin/run", "run");

  EXPECT_EQ(files.find(spec("bin/run")).sha256, crypto::sha256("run"));
  EXPECT_EQ(files.find(spec(under("bin/run"))).sha256, crypto::sha256("run"));
  EXPECT_EQ(files.find(spec("bin/none")).path, under("bin/none"));
  EXPECT_TRUE(files.find(spec("bin/none")).sha256.empty());
  EXPECT_TRUE(files.find(spec("bin/")).sha256.empty());
}

TEST_F(ExecutedFilesTest, WhenAFileIsChanged_ThenItsDigestIsNewAndAnUnchangedOneIsKept) {
  write("b/tool", "one");
  const auto before = files.find(spec("tool"));
  EXPECT_EQ(files.find(spec("tool")).sha256, before.sha256);

  std::filesystem::remove(under("b/tool"));
  write("b/tool", "two!");

  EXPECT_EQ(files.find(spec("tool")).sha256, crypto::sha256("two!"));
}

}  // namespace
}  // namespace outhaul
