// Record: the unit of every stream, and the same bytes in journals, in segments, on the wire and in
// the API. A header of 32 bytes, little-endian, then the payload:
//
//    0 u16 magic 0x4f52   2 u8 kind   3 u8 flags, 0   4 u32 length of the payload
//    8 u64 offset        16 i64 time, wall, ns       24 u32 CRC-32C of bytes 0..23 and the payload
//   28 u32 reserved, 0
//
// Offsets count what was produced: a record covers [offset, offset + span). The span of a gap is the
// number of bytes that it stands for; of any other kind, its length. The last record of a stream is of
// kind result or end, and only that one may be empty, so an offset names one place.
// Pure; no strand. Source: docs/protocol.md, "Records".
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/shared_slice.h"

namespace outhaul::stream {

enum class RecordKind : std::uint8_t {
  standard_output = 1,
  standard_error = 2,
  event = 3,   // what happened to the writer: a protobuf or JSON of its owner
  result = 4,  // completes a task's output
  gap = 5,     // u64 LE: how many bytes are left out here, at least one
  end = 6,     // completes any other stream
};

inline constexpr std::size_t record_header_bytes = 32;
inline constexpr std::size_t max_record_payload_bytes = 65536;
inline constexpr std::size_t max_record_bytes = record_header_bytes + max_record_payload_bytes;
inline constexpr std::size_t gap_payload_bytes = 8;
inline constexpr std::uint64_t max_stream_offset = UINT64_MAX >> 1U;  // where a record may end

constexpr bool completes_stream(RecordKind kind) {
  return kind == RecordKind::result || kind == RecordKind::end;
}

struct RecordHeader {
  RecordKind kind = RecordKind::standard_output;
  std::uint32_t length = 0;  // of the payload
  std::uint64_t offset = 0;
  WallTime time;
  std::uint32_t crc = 0;
  bool operator==(const RecordHeader&) const = default;
};

// One whole, checked record.
class EncodedRecord {
 public:
  // Builds it; one allocation, one copy of the payload. The payload obeys the rules of its kind
  // (OUTHAUL_ASSERT): cut what comes from outside with max_record_payload_bytes first.
  static EncodedRecord make(RecordKind kind, std::uint64_t offset, WallTime time, ByteView payload);
  // A gap of `missing` > 0 bytes.
  static EncodedRecord make_gap(std::uint64_t offset, WallTime time, std::uint64_t missing);
  // For bytes that parse_record has just accepted.
  static EncodedRecord assume(const RecordHeader& header, SharedSlice bytes) {
    return {header, std::move(bytes)};
  }

  const RecordHeader& header() const { return header_; }
  const SharedSlice& bytes() const { return bytes_; }
  ByteView payload() const { return bytes_.view().substr(record_header_bytes); }
  std::uint64_t span() const;
  std::uint64_t end_offset() const { return header_.offset + span(); }
  // The same record without what lies before `from`, checksummed anew; header().offset <= from, and
  // from < end_offset() or from == header().offset.
  EncodedRecord tail_from(std::uint64_t from) const;

 private:
  EncodedRecord(const RecordHeader& header, SharedSlice bytes) : header_(header), bytes_(std::move(bytes)) {}
  RecordHeader header_;
  SharedSlice bytes_;
};

// A record at the front of some bytes; `payload` points into them.
struct RecordView {
  RecordHeader header;
  ByteView payload;
  std::size_t size() const { return record_header_bytes + payload.size(); }
  std::uint64_t span() const;
  std::uint64_t end_offset() const { return header.offset + span(); }
};

// The header at the front of `bytes` (at least record_header_bytes): every rule but the checksum.
// Fails with `protocol_violation`; the message names the broken rule.
Result<RecordHeader> parse_record_header(ByteView bytes);

// The whole record at the front of `bytes`; what follows is not looked at. Fails with
// `protocol_violation`, also when `bytes` ends before the record does.
Result<RecordView> parse_record(ByteView bytes);

// Writes the header of a record whose payload stands behind it, and returns the checksum.
// `record` has record_header_bytes + header.length bytes; header.crc is not read.
std::uint32_t seal_record(const RecordHeader& header, char* record);

}  // namespace outhaul::stream
