// StreamLog: one stream of a StreamStore. Small: all of it is in `tail` and in the journal. Large: all of
// it is in `segments`, the last part also in `tail`. Known to the store alone; moves on its strand.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/event.h"
#include "base/ids.h"
#include "stream/journal.h"
#include "stream/segment.h"
#include "stream/stream_journal.h"
#include "stream/stream_store.h"
#include "stream/tail.h"

namespace outhaul::stream {

struct StreamLog {
  StreamLog(StreamId stream_id, StreamNumber stream_number, const Incarnation& made)
      : id(std::move(stream_id)), number(stream_number), incarnation(made) {}

  StreamId id;
  StreamNumber number;
  Incarnation incarnation;
  std::uint64_t start = 0;  // first offset that is held
  StreamPosition end;
  std::uint64_t completing_offset = 0;  // of the record that completes, once there is one
  StreamPosition durable;
  std::uint64_t read_until = 0;  // the furthest that a reader was given
  std::uint64_t adoptions = 0;   // how often its bytes were given up for a peer's
  Tail tail;
  // Shared with a sync under way, which may outlive the stream. Null: small.
  std::shared_ptr<SegmentLog> segments;
  // What went into segments that are not durable yet: until they are, a checkpoint must keep it.
  std::vector<EncodedRecord> head;
  JournalPosition journal_position = 0;  // of the last record that concerns this stream
  std::uint64_t marked = 0;              // the journal says that segments hold everything before it
  std::uint64_t released = 0;            // nobody needs what lies before it; not written down
  std::uint64_t dropped_unmarked = 0;    // bytes of a small stream that a restart would bring back
  std::uint64_t accounted_memory = 0;    // what the store's totals contain of this stream
  std::uint64_t accounted_disk = 0;
  bool is_flushing = false;
  bool is_damaged = false;
  bool is_forgotten = false;
  std::unique_ptr<Event> growth;  // made by the first that waits, as the next
  std::unique_ptr<Event> reading;

  // Where the bytes end that a reader can hold a part of: the record that completes is read whole or not at
  // all.
  std::uint64_t output_end() const { return end.complete ? completing_offset : end.offset; }
  // Empty: not complete. Fails as read().
  Result<std::optional<EncodedRecord>> completing_record() const;
  std::uint64_t encoded_bytes() const { return segments ? segments->bytes() : tail.encoded_bytes(); }
  StreamTotals totals() const;
  // Where a reader can be, and whether the completing record may be seen: only when it is durable.
  bool is_visibly_complete() const;
  bool has_more(std::uint64_t from) const;
  Result<ReadChunk> read(std::uint64_t from, std::size_t max_bytes) const;
  void note_appended(const EncodedRecord& record);
  void note_read(std::uint64_t until);
  std::uint64_t unread_bytes() const { return end.offset - std::min(end.offset, read_until); }
  // All of it before `position` is gone, the records in memory too.
  void begin_at(StreamPosition position);
  void wake() const {
    if (growth) growth->pulse();
    if (reading) reading->pulse();
  }
};

}  // namespace outhaul::stream
