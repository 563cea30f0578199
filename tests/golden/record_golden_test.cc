// The bytes that other versions rely on. A change here is a change of the protocol: it needs a decision and
// goes through scripts/golden.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "stream/record.h"

namespace outhaul {
namespace {

// proves B10
TEST(GoldenRecord, WhenEncoded_ThenEveryByteIsWhereTheProtocolSays) {
  const auto record = stream::EncodedRecord::make(stream::RecordKind::standard_error, 0x0102030405060708U,
                                                  WallTime{0x1112131415161718}, "abc");

  EXPECT_EQ(to_hex(record.bytes().view()),
            "524f0200030000000807060504030201"
            "1817161514131211" +
                to_hex(record.bytes().view().substr(24, 4)) + "00000000616263");
  EXPECT_EQ(record.header().crc, stream::parse_record(record.bytes().view())->header.crc);
}

TEST(GoldenGap, WhenEncoded_ThenItsPayloadIsTheCount) {
  const auto gap = stream::EncodedRecord::make_gap(7, WallTime{0}, 0x0a0b);

  EXPECT_EQ(to_hex(gap.payload()), "0b0a000000000000");
  EXPECT_EQ(gap.end_offset(), 7U + 0x0a0bU);
}

}  // namespace
}  // namespace outhaul
