// The store's own records in the journal. A stream is named by a number there, to keep small records
// small; `created` gives the number its id. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/error.h"
#include "stream/position.h"
#include "stream/record.h"

namespace outhaul::stream {

using StreamNumber = std::uint32_t;

enum class StreamJournalType : std::uint8_t {
  created = 1,      // number, incarnation, id
  record = 2,       // number, an encoded record
  in_segments = 3,  // number, offset: segments durably hold everything before it
  begins_at = 4,    // number, offset, u8 complete: what lies before is given up
  forgotten = 5,    // number
};
constexpr std::uint8_t type_of(StreamJournalType type) { return static_cast<std::uint8_t>(type); }

Bytes encode_created(StreamNumber number, const Incarnation& incarnation, std::string_view id);
Bytes encode_record_prefix(StreamNumber number);  // the encoded record follows
Bytes encode_in_segments(StreamNumber number, std::uint64_t offset);
Bytes encode_begins_at(StreamNumber number, StreamPosition position);
Bytes encode_forgotten(StreamNumber number);

struct StreamJournalEntry {
  StreamJournalType type = StreamJournalType::created;
  StreamNumber number = 0;
  Incarnation incarnation;  // created
  std::string id;           // created
  RecordView record;        // record; points into the payload
  ByteView encoded;         // record
  StreamPosition position;  // in_segments, begins_at
};

// Fails with journal_corrupt.
Result<StreamJournalEntry> parse_stream_journal(std::uint8_t type, ByteView payload);

}  // namespace outhaul::stream
