#include "crypto/secret_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "testing/scratch_directory.h"

namespace outhaul::crypto {
namespace {

class SecretSources : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(file) << " kept in a file \r\n";
    ::chmod(file.c_str(), 0600);
    ::setenv("OUTHAUL_TOKEN", "of the environment\n", 1);
  }
  void TearDown() override { ::unsetenv("OUTHAUL_TOKEN"); }

  testing::ScratchDirectory scratch;
  std::string file = scratch.file("token");
};

TEST_F(SecretSources, WhenThereAreSeveral_ThenTheOneThatKeepsItBestIsTaken) {
  EXPECT_TRUE(read_secret({"token", file, "option"})->equals(" kept in a file"));
  EXPECT_TRUE(read_secret({"token", "", "option"})->equals("option"));
  EXPECT_TRUE(read_secret({"token", "", ""})->equals("of the environment"));
}

TEST_F(SecretSources, WhenOthersMayReadTheFile_ThenItIsRefused) {
  ::chmod(file.c_str(), 0644);

  const auto read = read_secret({"token", file, ""});

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::file_permissions_loose);
}

}  // namespace
}  // namespace outhaul::crypto
