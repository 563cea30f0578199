#include "stream/stream_log.h"

#include <algorithm>

#include "base/planted_fault.h"

namespace outhaul::stream {

StreamTotals StreamLog::totals() const {
  return {.incarnation = incarnation,
          .start = start,
          .end = end.offset,
          .complete = end.complete,
          .completing_bytes = end.offset - output_end(),
          .durable = durable,
          .encoded_bytes = encoded_bytes(),
          .is_small = segments == nullptr,
          .is_damaged = is_damaged,
          .released = std::max(start, released)};
}

bool StreamLog::is_visibly_complete() const {
  return end.complete && (durable.complete || OUTHAUL_FAULT("result_sent_before_fsync"));
}

bool StreamLog::has_more(std::uint64_t from) const {
  if (is_damaged || is_visibly_complete() || from > end.offset) return true;
  // For readers the completing record is not there yet.
  return from < output_end();
}

Result<ReadChunk> StreamLog::read(std::uint64_t from, std::size_t max_bytes) const {
  if (from < start) {
    return fail(Error(ErrorCode::stream_gap, "stream: what lies before this offset was dropped")
                    .with("start", std::to_string(start)));
  }
  if (from > output_end() && from != end.offset)
    return fail(ErrorCode::invalid, "stream: offset past the end");
  if (is_damaged && from == end.offset)
    return fail(ErrorCode::journal_corrupt, "stream: damaged from this offset on");
  ReadChunk chunk;
  chunk.next = {from, false};
  const bool with_completing = is_visibly_complete();
  if (tail.covers(from)) {
    chunk = tail.read(from, max_bytes, with_completing);
  } else if (segments != nullptr) {
    OUTHAUL_TRY(read, segments->read(from, max_bytes, with_completing));
    chunk = std::move(read);
  }
  // Whoever has read up to the end of a complete stream knows so, also when no record said it.
  if (with_completing && chunk.next.offset == end.offset && chunk.slices.empty()) chunk.next.complete = true;
  return chunk;
}

void StreamLog::note_appended(const EncodedRecord& record) {
  end = {record.end_offset(), completes_stream(record.header().kind)};
  if (end.complete) completing_offset = record.header().offset;
  tail.push(record);
}

void StreamLog::note_read(std::uint64_t until) {
  if (until <= read_until) return;
  read_until = until;
  if (reading) reading->pulse();
}

Result<std::optional<EncodedRecord>> StreamLog::completing_record() const {
  if (!end.complete) return std::optional<EncodedRecord>();
  ReadChunk chunk;
  if (tail.covers(completing_offset)) {
    chunk = tail.read(completing_offset, max_record_bytes, true);
  } else if (segments != nullptr) {
    OUTHAUL_TRY(read, segments->read(completing_offset, max_record_bytes, true));
    chunk = std::move(read);
  }
  if (chunk.slices.empty())
    return fail(ErrorCode::not_found, "stream: the record that completes it was dropped");
  OUTHAUL_TRY(view, parse_record(chunk.slices.front().view()));
  return std::optional(EncodedRecord::assume(view.header, chunk.slices.front()));
}

void StreamLog::begin_at(StreamPosition position) {
  tail.drop(position.offset);
  start = position.offset;
  // Past the output means also past a completing record that stood there: what a reader holds is another
  // stream's end.
  if (end < position || output_end() < position.offset) {
    tail.clear();
    end = position;
  }
}

}  // namespace outhaul::stream
