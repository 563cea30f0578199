#include "stream/crc32c.h"

#include <gtest/gtest.h>

namespace outhaul::stream {
namespace {

Bytes counting(std::size_t size) {
  Bytes bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 + i / 251);
  return bytes;
}

// Vectors of RFC 3720, appendix B.4.
TEST(Crc32c, WhenTheRfcsVectorsAreSummed_ThenItsValuesComeOut) {
  Bytes ascending(32, '\0');
  for (std::size_t i = 0; i < 32; ++i) ascending[i] = static_cast<char>(i);

  EXPECT_EQ(crc32c(Bytes(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(Bytes(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, WhenTheLengthIsAny_ThenInstructionAndTableAgree) {
  const Bytes bytes = counting(40'000);
  for (const std::size_t size :
       {0UL, 1UL, 7UL, 8UL, 9UL, 63UL, 2048UL, 6143UL, 6144UL, 6145UL, 12'288UL, 39'999UL}) {
    SCOPED_TRACE(size);
    for (const std::size_t from : {0UL, 1UL, 3UL}) {
      if (from > size) continue;
      const auto part = ByteView(bytes).substr(from, size - from);
      EXPECT_EQ(crc32c(part), crc32c_by_table(part));
    }
  }
}

TEST(Crc32c, WhenARunIsCutAnywhere_ThenTheSumOfItsPartsIsTheSameAsOfTheWhole) {
  const Bytes bytes = counting(7000);
  const auto whole = crc32c(bytes);

  for (std::size_t cut = 0; cut <= bytes.size(); cut += 97) {
    const auto front = crc32c(ByteView(bytes).substr(0, cut));
    EXPECT_EQ(crc32c(ByteView(bytes).substr(cut), front), whole) << cut;
    EXPECT_EQ(crc32c_by_table(ByteView(bytes).substr(cut), front), whole) << cut;
  }
}

}  // namespace
}  // namespace outhaul::stream
