#include "crypto/digest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace outhaul::crypto {
namespace {

constexpr const char* abc_hex =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";  // FIPS 180-4

TEST(Sha256, WhenGivenThePublishedVectors_ThenTheirDigestsComeOut) {
  EXPECT_EQ(sha256_hex("abc"), abc_hex);
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").size(), sha256_bytes);
}

TEST(Sha256, WhenFedInPieces_ThenTheDigestIsThatOfTheWhole) {
  Sha256 running;
  for (const char* piece : {"a", "", "bc"}) running.update(piece);

  EXPECT_EQ(to_hex(running.digest()), abc_hex);
}

TEST(Sha256, WhenAskedInTheMiddle_ThenItGoesOn) {
  Sha256 running;
  running.update("a");

  EXPECT_EQ(running.digest(), sha256("a"));

  running.update("bc");
  EXPECT_EQ(to_hex(running.digest()), abc_hex);
}

TEST(Sha256, WhenCopied_ThenBothGoOnApart) {
  Sha256 first;
  first.update("a");

  Sha256 second(first);
  second.update("bc");
  Sha256 third;
  third = first;
  third.update("x");
  Sha256 fourth(std::move(second));

  EXPECT_EQ(first.digest(), sha256("a"));
  EXPECT_EQ(to_hex(fourth.digest()), abc_hex);
  EXPECT_EQ(third.digest(), sha256("ax"));
}

TEST(Sha256, WhenTheBytesHoldNul_ThenTheyCount) {
  const std::string with_nul("a\0b", 3);

  EXPECT_NE(sha256(with_nul), sha256("a"));
}

}  // namespace
}  // namespace outhaul::crypto
