#include "stream/record_decoder.h"

#include <gtest/gtest.h>

namespace outhaul::stream {
namespace {

Bytes three_records() {
  Bytes all(EncodedRecord::make(RecordKind::standard_output, 0, {1}, "first").bytes().view());
  all += EncodedRecord::make_gap(5, {2}, 10).bytes().view();
  all += EncodedRecord::make(RecordKind::end, 15, {3}, "").bytes().view();
  return all;
}

// Feeds chunks of one size; gives the payloads and ends of all records.
std::vector<EncodedRecord> decode(ByteView bytes, std::size_t chunk) {
  RecordDecoder decoder;
  std::vector<EncodedRecord> records;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) {
    decoder.feed(bytes.substr(0, chunk));
    for (;;) {
      auto next = decoder.next();
      if (!next || !*next) break;
      records.push_back(**next);
    }
  }
  EXPECT_TRUE(decoder.is_at_boundary());
  return records;
}

TEST(RecordDecoder, WhenChunksAreCutAnywhere_ThenTheSameRecordsComeOut) {
  const Bytes bytes = three_records();
  for (std::size_t chunk = 1; chunk <= bytes.size(); ++chunk) {
    SCOPED_TRACE(chunk);

    const auto records = decode(bytes, chunk);

    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].payload(), "first");
    EXPECT_EQ(records[1].end_offset(), 15U);
    EXPECT_EQ(records[2].header().kind, RecordKind::end);
  }
}

TEST(RecordDecoder, WhenARecordIsUnfinished_ThenItIsNotAtABoundary) {
  RecordDecoder decoder;
  const Bytes bytes = three_records();

  decoder.feed(ByteView(bytes).substr(0, 20));

  EXPECT_FALSE(decoder.next()->has_value());
  EXPECT_FALSE(decoder.is_at_boundary());
}

TEST(RecordDecoder, WhenALengthLies_ThenItFailsBeforeThePayloadIsAwaited) {
  RecordDecoder decoder;
  Bytes bytes = three_records();
  bytes[7] = '\x7f';  // a length of 2 GiB

  decoder.feed(ByteView(bytes).substr(0, record_header_bytes));
  const auto next = decoder.next();

  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(next.error().code(), ErrorCode::protocol_violation);
}

TEST(RecordDecoder, WhenItHasFailed_ThenItStaysFailed) {
  RecordDecoder decoder;
  const Bytes garbage(record_header_bytes, 'x');
  decoder.feed(garbage);
  ASSERT_FALSE(decoder.next().has_value());

  EXPECT_FALSE(decoder.next().has_value());
}

}  // namespace
}  // namespace outhaul::stream
