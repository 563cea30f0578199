#include "stream/stream_journal.h"

#include "stream/little_endian.h"

namespace outhaul::stream {
namespace {

constexpr std::size_t number_bytes = sizeof(StreamNumber);
constexpr std::size_t offset_bytes = sizeof(std::uint64_t);

std::unexpected<Error> malformed(const char* what) {
  return fail(ErrorCode::journal_corrupt, std::string("journal: ") + what);
}

Result<void> parse_created(ByteView rest, StreamJournalEntry& entry) {
  if (rest.size() <= Incarnation::size_bytes) return malformed("a stream without an id");
  OUTHAUL_TRY(incarnation, Incarnation::parse(rest.substr(0, Incarnation::size_bytes)));
  entry.incarnation = incarnation;
  entry.id = rest.substr(Incarnation::size_bytes);
  return {};
}

Result<void> parse_encoded(ByteView rest, StreamJournalEntry& entry) {
  auto record = parse_record(rest);
  if (!record || record->size() != rest.size()) return malformed("a stream record that is none");
  entry.record = *record;
  entry.encoded = rest;
  return {};
}

}  // namespace

Bytes encode_created(StreamNumber number, const Incarnation& incarnation, std::string_view id) {
  Bytes payload = encode_record_prefix(number);
  payload += incarnation.bytes();
  payload += id;
  return payload;
}

Bytes encode_record_prefix(StreamNumber number) {
  Bytes payload;
  append_le(payload, number);
  return payload;
}

Bytes encode_in_segments(StreamNumber number, std::uint64_t offset) {
  Bytes payload = encode_record_prefix(number);
  append_le(payload, offset);
  return payload;
}

Bytes encode_begins_at(StreamNumber number, StreamPosition position) {
  Bytes payload = encode_in_segments(number, position.offset);
  append_le(payload, static_cast<std::uint8_t>(position.complete));
  return payload;
}

Bytes encode_forgotten(StreamNumber number) { return encode_record_prefix(number); }

Result<StreamJournalEntry> parse_stream_journal(std::uint8_t type, ByteView payload) {
  if (type < 1 || type > static_cast<std::uint8_t>(StreamJournalType::forgotten))
    return malformed("unknown stream record");
  if (payload.size() < number_bytes) return malformed("a stream record without a number");
  StreamJournalEntry entry;
  entry.type = static_cast<StreamJournalType>(type);
  entry.number = get_le<StreamNumber>(payload, 0);
  const ByteView rest = payload.substr(number_bytes);
  switch (entry.type) {
    case StreamJournalType::created: OUTHAUL_CHECK(parse_created(rest, entry)); break;
    case StreamJournalType::record: OUTHAUL_CHECK(parse_encoded(rest, entry)); break;
    case StreamJournalType::in_segments:
      if (rest.size() != offset_bytes) return malformed("a segment mark of a wrong size");
      entry.position.offset = get_le<std::uint64_t>(rest, 0);
      break;
    case StreamJournalType::begins_at:
      if (rest.size() != offset_bytes + 1 || static_cast<unsigned char>(rest.back()) > 1) {
        return malformed("a start mark of a wrong form");
      }
      entry.position = {get_le<std::uint64_t>(rest, 0), rest.back() == 1};
      break;
    case StreamJournalType::forgotten:
      if (!rest.empty()) return malformed("an end mark of a wrong size");
      break;
  }
  return entry;
}

}  // namespace outhaul::stream
