#include "base/bytes.h"

#include <gtest/gtest.h>

namespace outhaul {
namespace {

TEST(ToHex, WhenBytesAreHighOrZero_ThenEachGivesTwoLowerCaseDigits) {
  const Bytes bytes("\x00\x0f\xf0\xff", 4);

  const auto text = to_hex(bytes);

  EXPECT_EQ(text, "000ff0ff");
}

TEST(ToBase64, WhenLengthIsAnyRemainderOfThree_ThenPaddingCompletesIt) {
  struct Row {
    std::string_view bytes;
    std::string_view text;
  };
  // RFC 4648, section 10, and the two characters beyond letters and digits.
  const Row rows[] = {{"", ""},
                      {"f", "Zg=="},
                      {"fo", "Zm8="},
                      {"foo", "Zm9v"},
                      {"foob", "Zm9vYg=="},
                      {"fooba", "Zm9vYmE="},
                      {"foobar", "Zm9vYmFy"},
                      {"\xfb\xff\xbf", "+/+/"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);

    const auto text = to_base64(row.bytes);

    EXPECT_EQ(text, row.text);
  }
}

TEST(Base64, WhenParsedBack_ThenItIsTheSame) {
  for (const std::string_view bytes : {"", "f", "fo", "foo", "foob", "fooba", "foobar", "\xff\xfe\xfd"}) {
    SCOPED_TRACE(bytes);

    EXPECT_EQ(parse_base64(to_base64(bytes)), Bytes(bytes));
  }
}

TEST(Base64, WhenAnythingElse_ThenNothing) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "Z===", "Zg==Zg==", "Zm9v\n", "Zm9_", "Zm 9", "=m9v"}) {
    SCOPED_TRACE(text);

    EXPECT_FALSE(parse_base64(text).has_value());
  }
}

TEST(Hex, WhenItIsParsed_ThenEitherCaseIsTakenAndNothingElse) {
  EXPECT_EQ(parse_hex("00fFa5"), Bytes("\x00\xff\xa5", 3));
  EXPECT_EQ(parse_hex(""), Bytes());
  for (const auto* text : {"0", "0g", " 0", "0x", "00 "}) EXPECT_FALSE(parse_hex(text).has_value()) << text;
}

}  // namespace
}  // namespace outhaul
