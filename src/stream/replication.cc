#include "stream/replication.h"

#include <algorithm>

#include "base/planted_fault.h"

namespace outhaul::stream {

WriterCursor::Opening WriterCursor::open(const WriterHoldings& held) {
  // What the reader acknowledged may be more than a recovered writer holds: it then says so in Accept.
  next_ = {std::clamp(acknowledged_.offset, held.start, held.output_end()), false};
  opened_from_ = next_.offset;
  return {.from = next_.offset, .dropped_before = held.start};
}

Result<WriterCursor::Acceptance> WriterCursor::accept(StreamPosition reader, const WriterHoldings& held) {
  if (reader.offset < held.start) {
    return fail(ErrorCode::protocol_violation, "stream: accepted before what the writer still holds");
  }
  if (reader.complete) {
    next_ = acknowledged_ = reader;
    return Acceptance::finished;
  }
  if (reader.offset > held.output_end()) {
    next_ = reader;
    return Acceptance::adopt;
  }
  // Back to the reader's place when it is behind `from`; forward when it is ahead of what was sent.
  // Between them the optimistic records are just what it wants: sending goes on.
  if (reader.offset < opened_from_ || reader.offset > next_.offset) {
    next_ = reader;
    if (OUTHAUL_FAULT("offset_off_by_one")) ++next_.offset;
  }
  return Acceptance::go_on;
}

std::optional<WriterCursor::Sending> WriterCursor::next(const WriterHoldings& held,
                                                        std::size_t credit) const {
  if (credit == 0 || next_.complete || next_.offset > held.end) return std::nullopt;
  if (next_.offset == held.end && !held.complete) return std::nullopt;
  return Sending{.from = next_.offset, .max_bytes = credit};
}

Result<std::uint64_t> WriterCursor::acknowledge(StreamPosition reader, const WriterHoldings& held) {
  if (reader.offset > std::max(next_.offset, acknowledged_.offset) || (reader.complete && !held.complete)) {
    return fail(ErrorCode::protocol_violation, "stream: acknowledged past what was sent");
  }
  acknowledged_ = std::max(acknowledged_, reader);
  return acknowledged_.offset;
}

Result<std::pair<ReaderCursor, ReaderCursor::Opened>> ReaderCursor::open(const Peer& peer, const Held& held) {
  if (peer.incarnation != held.incarnation) {
    return fail(ErrorCode::conflict, "stream: another incarnation of this stream is held");
  }
  if (peer.from < peer.dropped_before) {
    return fail(ErrorCode::protocol_violation, "stream: opened before what the writer still holds");
  }
  Opened opened{.gap_bytes = 0, .position = held.position};
  if (!held.position.complete && held.position.offset < peer.dropped_before) {
    opened.gap_bytes = peer.dropped_before - held.position.offset;
    opened.position.offset = peer.dropped_before;
  }
  const bool awaits_rewind = peer.from > opened.position.offset;
  return std::pair(ReaderCursor(opened.position, awaits_rewind), opened);
}

Result<ReaderCursor::Verdict> ReaderCursor::offer(const RecordHeader& header, std::uint64_t span) {
  if (header.offset > position_.offset && awaits_rewind_) return Verdict::ignore;
  if (header.offset > position_.offset) {
    return fail(ErrorCode::stream_gap, "stream: bytes are missing before this record");
  }
  awaits_rewind_ = false;
  const std::uint64_t end = header.offset + span;
  const bool completes = completes_stream(header.kind);
  if (position_.complete) {
    if (end <= position_.offset) return Verdict::ignore;
    return fail(ErrorCode::protocol_violation, "stream: goes on after the record that completed it");
  }
  const bool whole = header.offset == position_.offset;
  // Only an empty completing record can end where we stand and still be new.
  if (end <= position_.offset && !(whole && completes)) return Verdict::ignore;
  if (completes && !whole) return Verdict::ignore;
  position_ = {end, completes};
  return whole ? Verdict::append : Verdict::append_tail;
}

}  // namespace outhaul::stream
