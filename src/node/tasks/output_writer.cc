#include "node/tasks/output_writer.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace outhaul::node {
namespace {

using stream::RecordKind;

// Small enough that the tunnel's heartbeats are never late for it.
constexpr std::size_t recovery_read_bytes = 1U << 20U;

RecordKind to_record_kind(sandbox::OutputKind kind) {
  return kind == sandbox::OutputKind::err ? RecordKind::standard_error : RecordKind::standard_output;
}

}  // namespace

OutputWriter::OutputWriter(stream::StreamStore& streams, StreamId stream)
    : streams_(streams), stream_(std::move(stream)) {}

Task<Result<void>> OutputWriter::recover(const std::optional<OutputTotals>& written_down) {
  if (written_down) totals_ = *written_down;
  for (;;) {
    const auto found = streams_.find(stream_);
    if (!found || totals_.offset >= found->end) co_return Result<void>();
    if (totals_.offset < found->start) {
      lost_ += found->start - totals_.offset;
      totals_.offset = found->start;
    }
    OUTHAUL_CO_TRY(chunk, streams_.read(stream_, totals_.offset, recovery_read_bytes));
    if (chunk.slices.empty()) co_return Result<void>();
    for (const auto& slice : chunk.slices) OUTHAUL_CO_CHECK(count_records(slice.view()));
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  }
}

Result<void> OutputWriter::count_records(ByteView records) {
  while (!records.empty()) {
    OUTHAUL_TRY(record, stream::parse_record(records));
    count(record.header.kind, record.payload);
    if (record.header.kind == RecordKind::gap) note_gap(record.end_offset() - record.header.offset);
    totals_.offset = record.end_offset();
    records.remove_prefix(record.size());
  }
  return {};
}

void OutputWriter::count(RecordKind kind, ByteView payload) {
  if (kind == RecordKind::standard_output) {
    totals_.out_hash.update(payload);
    totals_.out_bytes += payload.size();
  } else if (kind == RecordKind::standard_error) {
    totals_.err_hash.update(payload);
    totals_.err_bytes += payload.size();
  }
}

// An earlier life left this out; of which kind it was is not known any more.
void OutputWriter::note_gap(std::uint64_t bytes) {
  lost_ += bytes;
  left_out_ += bytes;
  marked_ += bytes;
}

void OutputWriter::leave_out(const sandbox::OutputChunk& chunk) {
  if (chunk.offset > produced()) {
    // A killed node had given it back already.
    const std::uint64_t skipped = chunk.offset - produced();
    lost_ += skipped;
    left_out_ += skipped;
  }
  const std::uint64_t known = produced() - chunk.offset;
  if (known >= chunk.bytes.size()) return;
  const ByteView fresh = chunk.bytes.substr(known);
  count(to_record_kind(chunk.kind), fresh);
  left_out_ += fresh.size();
}

Result<void> OutputWriter::append_gap(WallTime time) {
  if (left_out_ == marked_) return {};
  OUTHAUL_TRY(record, streams_.append_gap(stream_, time, left_out_ - marked_));
  totals_.offset = record.end_offset();
  marked_ = left_out_;
  return {};
}

Result<void> OutputWriter::append(std::span<const sandbox::OutputChunk> chunks) {
  const auto found = streams_.find(stream_);
  if (!found) return fail(ErrorCode::not_found, "the task's stream is gone");
  std::vector<stream::EncodedRecord> records;
  std::uint64_t end = found->end;
  for (const auto& chunk : chunks) {
    // A chunk is given back only after it was written, so a node that was killed between the two meets the
    // front of it again.
    const std::uint64_t known = produced() > chunk.offset ? produced() - chunk.offset : 0;
    if (known >= chunk.bytes.size()) continue;
    const auto kind = to_record_kind(chunk.kind);
    records.push_back(stream::EncodedRecord::make(kind, end, chunk.time, chunk.bytes.substr(known)));
    end = records.back().end_offset();
  }
  if (records.empty()) return {};
  const auto appended = streams_.append_run(stream_, records);
  // After a failure the front of the run may be there all the same.
  const auto held = streams_.find(stream_);
  for (const auto& record : records) {
    if (!held || record.end_offset() > held->end) break;
    count(record.header().kind, record.payload());
    totals_.offset = record.end_offset();
  }
  return appended;
}

Result<void> OutputWriter::append_event(WallTime time, ByteView json) {
  OUTHAUL_TRY(record, streams_.append(stream_, RecordKind::event, time, json));
  totals_.offset = record.end_offset();
  return {};
}

}  // namespace outhaul::node
