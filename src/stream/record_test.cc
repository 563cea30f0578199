#include "stream/record.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "stream/little_endian.h"

namespace outhaul::stream {
namespace {

constexpr WallTime noon{1'767'268'800'000'000'000};

Bytes encoded(RecordKind kind, std::uint64_t offset, ByteView payload) {
  return Bytes(EncodedRecord::make(kind, offset, noon, payload).bytes().view());
}

// Seals what a test has changed, so that only the rule under test is broken.
Bytes resealed(Bytes record) {
  RecordHeader header{.kind = static_cast<RecordKind>(record[2]),
                      .length = get_le<std::uint32_t>(record.data() + 4),
                      .offset = get_le<std::uint64_t>(record.data() + 8),
                      .time = {get_le<std::int64_t>(record.data() + 16)},
                      .crc = 0};
  seal_record(header, record.data());
  return record;
}

TEST(Record, WhenItIsEncoded_ThenTheBytesAreThoseOfTheFormat) {
  const Bytes record = encoded(RecordKind::standard_error, 0x0102030405060708, "hi");

  EXPECT_EQ(to_hex(ByteView(record).substr(0, 24)), "524f02000200000008070605040302010080a1369c998618");
  EXPECT_EQ(to_hex(ByteView(record).substr(28)), "000000006869");
}

// proves X3
TEST(Record, WhenItIsParsed_ThenAnyBytesComeBackAsTheyWere) {
  const std::vector<Bytes> payloads = {"plain",
                                       Bytes("\0\0", 2),
                                       "\xc3",
                                       "\xa9",
                                       "\x1b[3",
                                       "1m\r",
                                       "\xb0\xa1\xff\xfe",
                                       Bytes(max_record_payload_bytes, '\xee')};
  for (const auto& payload : payloads) {
    const Bytes record = encoded(RecordKind::standard_output, 7, payload) + "what follows";

    const auto parsed = parse_record(record);

    ASSERT_TRUE(parsed.has_value()) << parsed.error().what();
    EXPECT_EQ(parsed->payload, payload);
    EXPECT_EQ(parsed->header.time, noon);
    EXPECT_EQ(parsed->end_offset(), 7 + payload.size());
  }
}

TEST(Record, WhenItIsCutAtAnyByte_ThenItIsRefused) {
  const Bytes record = encoded(RecordKind::standard_output, 0, "some output");
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(parse_record(ByteView(record).substr(0, size)).has_value()) << size;
  }
}

TEST(Record, WhenAnyBitIsFlipped_ThenItIsRefused) {
  const Bytes record = encoded(RecordKind::event, 99, "an event");
  for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
    Bytes flipped = record;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(parse_record(flipped).has_value()) << bit;
  }
}

TEST(Record, WhenARuleIsBroken_ThenTheMessageNamesIt) {
  const Bytes good = encoded(RecordKind::standard_output, 10, "12345678");
  const auto with = [&](std::size_t at, auto value) {
    Bytes changed = good;
    put_le(changed.data() + at, value);
    return changed;
  };
  const std::map<std::string, Bytes> rows = {
      {"wrong magic", with(0, std::uint16_t{0x4f53})},
      {"unknown kind", with(2, std::uint8_t{0})},
      {"unknown kind ", with(2, std::uint8_t{7})},
      {"unknown kind  ", with(2, std::uint8_t{255})},
      {"flags are not zero", with(3, std::uint8_t{1})},
      {"payload longer", with(4, std::uint32_t{65'537})},
      {"payload longer ", with(4, std::uint32_t{0xffffffff})},
      {"reserved bytes", with(28, std::uint32_t{1})},
      {"checksum", with(24, std::uint32_t{0})},
      {"cut in the payload", with(4, std::uint32_t{9})},
      {"empty payload", resealed(with(4, std::uint32_t{0}))},
      {"offset past", resealed(with(8, max_stream_offset - 7))},
      {"offset past ", resealed(with(8, UINT64_MAX))},
      {"gap whose payload", resealed(with(2, std::uint8_t{5})).replace(4, 1, 1, 7)},
  };
  for (const auto& [rule, bytes] : rows) {
    SCOPED_TRACE(rule);
    const auto parsed = parse_record(bytes);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code(), ErrorCode::protocol_violation);
    EXPECT_NE(parsed.error().what().find(rule.substr(0, rule.find_last_not_of(' ') + 1)), Bytes::npos)
        << parsed.error().what();
  }
}

TEST(Record, WhenAGapIsOfNoBytesOrTooMany_ThenItIsRefused) {
  for (const std::uint64_t missing : {std::uint64_t{0}, max_stream_offset, UINT64_MAX}) {
    Bytes record = encoded(RecordKind::gap, 5, Bytes("\1\0\0\0\0\0\0\0", 8));
    put_le(record.data() + record_header_bytes, missing);
    EXPECT_FALSE(parse_record(resealed(record)).has_value()) << missing;
  }
}

TEST(Record, WhenAGapIsCounted_ThenItSpansWhatIsMissing) {
  const auto gap = EncodedRecord::make_gap(100, noon, 5000);

  EXPECT_EQ(gap.span(), 5000U);
  EXPECT_EQ(parse_record(gap.bytes().view())->end_offset(), 5100U);
}

TEST(Record, WhenItsFrontIsCut_ThenTheTailIsAWholeRecordFromThere) {
  const auto record = EncodedRecord::make(RecordKind::standard_output, 100, noon, "abcdef");
  const auto gap = EncodedRecord::make_gap(100, noon, 50);

  const auto tail = record.tail_from(104);
  const auto gap_tail = gap.tail_from(120);

  EXPECT_EQ(parse_record(tail.bytes().view())->payload, "ef");
  EXPECT_EQ(tail.header().offset, 104U);
  EXPECT_EQ(gap_tail.span(), 30U);
  EXPECT_EQ(record.tail_from(100).bytes().view(), record.bytes().view());
}

}  // namespace
}  // namespace outhaul::stream
