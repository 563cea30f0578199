#include "stream/record.h"

#include "base/assert.h"
#include "stream/crc32c.h"
#include "stream/little_endian.h"

namespace outhaul::stream {
namespace {

constexpr std::uint16_t magic = 0x4f52;
constexpr std::size_t kind_at = 2;
constexpr std::size_t flags_at = 3;
constexpr std::size_t length_at = 4;
constexpr std::size_t offset_at = 8;
constexpr std::size_t time_at = 16;
constexpr std::size_t crc_at = 24;
constexpr std::size_t reserved_at = 28;

std::unexpected<Error> broken(const char* rule) {
  return fail(ErrorCode::protocol_violation, std::string("record: ") + rule);
}

std::uint64_t span_of(RecordKind kind, ByteView payload) {
  return kind == RecordKind::gap ? get_le<std::uint64_t>(payload, 0) : payload.size();
}

// The rules that a length obeys, by kind.
const char* fault_of_length(RecordKind kind, std::uint32_t length) {
  if (length > max_record_payload_bytes) return "payload longer than 65536 bytes";
  if (kind == RecordKind::gap && length != gap_payload_bytes) return "gap whose payload is not 8 bytes";
  if (length == 0 && !completes_stream(kind)) return "empty payload that does not complete the stream";
  return nullptr;
}

const char* fault_of_span(std::uint64_t offset, std::uint64_t span, RecordKind kind) {
  if (kind == RecordKind::gap && span == 0) return "gap of no bytes";
  if (offset > max_stream_offset || span > max_stream_offset - offset) return "offset past the limit";
  return nullptr;
}

std::uint32_t checksum(const char* record, ByteView payload) {
  return crc32c(payload, crc32c(ByteView(record, crc_at)));
}

}  // namespace

std::uint32_t seal_record(const RecordHeader& header, char* record) {
  put_le(record, magic);
  put_le(record + kind_at, static_cast<std::uint8_t>(header.kind));
  put_le(record + flags_at, std::uint8_t{0});
  put_le(record + length_at, header.length);
  put_le(record + offset_at, header.offset);
  put_le(record + time_at, header.time.nanoseconds);
  const std::uint32_t crc = checksum(record, ByteView(record + record_header_bytes, header.length));
  put_le(record + crc_at, crc);
  put_le(record + reserved_at, std::uint32_t{0});
  return crc;
}

EncodedRecord EncodedRecord::make(RecordKind kind, std::uint64_t offset, WallTime time, ByteView payload) {
  const auto length = static_cast<std::uint32_t>(payload.size());
  OUTHAUL_ASSERT(payload.size() <= max_record_payload_bytes && fault_of_length(kind, length) == nullptr);
  OUTHAUL_ASSERT(fault_of_span(offset, span_of(kind, payload), kind) == nullptr);
  auto record = std::make_shared_for_overwrite<char[]>(record_header_bytes + payload.size());
  if (!payload.empty()) std::memcpy(record.get() + record_header_bytes, payload.data(), payload.size());
  RecordHeader header{.kind = kind, .length = length, .offset = offset, .time = time, .crc = 0};
  header.crc = seal_record(header, record.get());
  const ByteView view(record.get(), record_header_bytes + payload.size());
  return {header, SharedSlice(std::move(record), view)};
}

EncodedRecord EncodedRecord::make_gap(std::uint64_t offset, WallTime time, std::uint64_t missing) {
  char payload[gap_payload_bytes];
  put_le(payload, missing);
  return make(RecordKind::gap, offset, time, ByteView(payload, sizeof payload));
}

std::uint64_t EncodedRecord::span() const { return span_of(header_.kind, payload()); }

EncodedRecord EncodedRecord::tail_from(std::uint64_t from) const {
  if (from == header_.offset) return *this;
  OUTHAUL_ASSERT(header_.offset < from && from < end_offset());
  if (header_.kind == RecordKind::gap) return make_gap(from, header_.time, end_offset() - from);
  return make(header_.kind, from, header_.time, payload().substr(from - header_.offset));
}

std::uint64_t RecordView::span() const { return span_of(header.kind, payload); }

Result<RecordHeader> parse_record_header(ByteView bytes) {
  if (bytes.size() < record_header_bytes) return broken("cut in the header");
  const char* at = bytes.data();
  if (get_le<std::uint16_t>(at) != magic) return broken("wrong magic");
  const auto kind = get_le<std::uint8_t>(at + kind_at);
  if (kind < 1 || kind > static_cast<std::uint8_t>(RecordKind::end)) return broken("unknown kind");
  if (get_le<std::uint8_t>(at + flags_at) != 0) return broken("flags are not zero");
  if (get_le<std::uint32_t>(at + reserved_at) != 0) return broken("reserved bytes are not zero");
  const RecordHeader header{.kind = static_cast<RecordKind>(kind),
                            .length = get_le<std::uint32_t>(at + length_at),
                            .offset = get_le<std::uint64_t>(at + offset_at),
                            .time = {get_le<std::int64_t>(at + time_at)},
                            .crc = get_le<std::uint32_t>(at + crc_at)};
  if (const char* fault = fault_of_length(header.kind, header.length)) return broken(fault);
  return header;
}

Result<RecordView> parse_record(ByteView bytes) {
  OUTHAUL_TRY(header, parse_record_header(bytes));
  if (bytes.size() - record_header_bytes < header.length) return broken("cut in the payload");
  const RecordView record{.header = header, .payload = bytes.substr(record_header_bytes, header.length)};
  if (checksum(bytes.begin(), record.payload) != header.crc) return broken("checksum does not match");
  if (const char* fault = fault_of_span(header.offset, record.span(), header.kind)) return broken(fault);
  return record;
}

}  // namespace outhaul::stream
