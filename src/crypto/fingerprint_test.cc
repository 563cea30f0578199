#include "crypto/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace outhaul::crypto {
namespace {

const std::string abc_digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Fingerprint, WhenPrintedAndParsed_ThenItIsEqual) {
  const auto fingerprint = Fingerprint::of_spki("abc");

  EXPECT_EQ(fingerprint.text(), "sha256:" + abc_digits);
  EXPECT_EQ(*Fingerprint::parse(fingerprint.text()), fingerprint);
}

TEST(Fingerprint, WhenTheDigitsAreUpperCase_ThenItIsTheSame) {
  auto digits = abc_digits;
  std::ranges::transform(digits, digits.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });

  EXPECT_EQ(*Fingerprint::parse("sha256:" + digits), Fingerprint::of_spki("abc"));
}

TEST(Fingerprint, WhenOneDigitDiffers_ThenItIsAnother) {
  for (const std::size_t at : {0U, 31U, 63U}) {
    auto digits = abc_digits;
    digits[at] = digits[at] == '0' ? '1' : '0';
    EXPECT_FALSE(*Fingerprint::parse("sha256:" + digits) == Fingerprint::of_spki("abc"));
  }
}

TEST(Fingerprint, WhenTheTextIsAnythingElse_ThenItIsInvalidAndNotEchoed) {
  const std::string rejected[] = {"",
                                  "sha256:",
                                  "sha256",
                                  abc_digits,
                                  "SHA256:" + abc_digits,
                                  "sha512:" + abc_digits,
                                  "sha256:" + abc_digits.substr(1),
                                  "sha256:" + abc_digits + "0",
                                  "sha256:" + abc_digits + "\n",
                                  " sha256:" + abc_digits,
                                  "sha256: " + abc_digits.substr(1),
                                  "sha256:g" + abc_digits.substr(1),
                                  "sha256:-" + abc_digits.substr(1),
                                  "sha256:0x" + abc_digits.substr(2),
                                  "sha256:" + abc_digits.substr(0, 63) + std::string(1, '\0'),
                                  "hunter2"};
  for (const auto& text : rejected) {
    SCOPED_TRACE(text);
    const auto fingerprint = Fingerprint::parse(text);
    ASSERT_FALSE(fingerprint.has_value());
    EXPECT_EQ(fingerprint.error().code(), ErrorCode::invalid);
    EXPECT_EQ(fingerprint.error().what().find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace outhaul::crypto
