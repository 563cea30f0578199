#include "tests/sim/output_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "crypto/digest.h"

namespace outhaul::sim {
namespace {

using sandbox::OutputKind;
using stream::RecordKind;

wire::StreamTotals totals_of(const Program& program, OutputKind kind) {
  Bytes bytes;
  for (std::size_t at = 0; at < program.written.size();) {
    const auto [run_kind, size] = program.run_at(at);
    if (run_kind == kind) bytes.append(program.written, at, size);
    at += size;
  }
  return {bytes.size(), crypto::sha256(bytes)};
}

}  // namespace

void OutputCheck::fail(std::string_view invariant, const std::string& what) {
  verdict_->fail(invariant, fmt::format("{} holds of {} at {}: {}", who_, task_.text(), offset_, what));
}

std::uint64_t OutputCheck::program_offset(std::uint64_t offset) const {
  std::uint64_t events = 0;
  for (const auto& [at, length] : events_) {
    if (at < offset) events += length;
  }
  return offset - events;
}

void OutputCheck::rewind(std::uint64_t offset) {
  if (offset >= offset_ && !result_) return;
  offset_ = std::min(offset, offset_);
  events_.erase(events_.lower_bound(offset_), events_.end());
  gaps_.erase(gaps_.lower_bound(offset_), gaps_.end());
  result_.reset();
}

void OutputCheck::take(ByteView records) {
  while (!records.empty() && !verdict_->violation()) {
    const auto record = stream::parse_record(records);
    if (!record) return fail("stream_is_records", record.error().what());
    take(*record);
    records.remove_prefix(record->size());
  }
}

void OutputCheck::take(const stream::RecordView& record) {
  if (record.header.offset != offset_ || result_) return fail("stream_in_order", "a record out of its place");
  switch (record.header.kind) {
    case RecordKind::standard_output: take_output(record, OutputKind::out); break;
    case RecordKind::standard_error: take_output(record, OutputKind::err); break;
    case RecordKind::event: events_[offset_] = record.payload.size(); break;
    case RecordKind::result: take_result(record.payload); break;
    case RecordKind::gap: take_gap(record); break;
    case RecordKind::end: return fail("stream_is_prefix", "a foreign end");
  }
  offset_ = record.end_offset();
}

void OutputCheck::take_output(const stream::RecordView& record, OutputKind kind) {
  const auto* program = book_->find(task_);
  if (program == nullptr) return fail("stream_is_prefix", "output of a program that never ran");
  const auto from = static_cast<std::size_t>(program_offset(offset_));
  const auto size = record.payload.size();
  // Which of the missing bytes were events nobody knows, so that what follows has no known place.
  if (!gaps_.empty() && book_->may_lack_acknowledged()) return;
  if (from + size > program->written.size()) return fail("stream_is_prefix", "more than was written");
  const auto [written_kind, run] = program->run_at(from);
  if (written_kind != kind || run < size) return fail("stream_is_prefix", "bytes of another kind");
  if (ByteView(program->written).substr(from, size) != record.payload)
    fail("stream_is_prefix", "other bytes");
}

// Only what the program did write is left out, and the result says that it is.
void OutputCheck::take_gap(const stream::RecordView& record) {
  const auto* program = book_->find(task_);
  const auto missing = record.end_offset() - offset_;
  gaps_[offset_] = missing;
  if (book_->may_lack_acknowledged()) return;
  if (program == nullptr || program_offset(offset_) + missing > program->written.size())
    fail("stream_is_prefix", "more is left out than was written");
}

void OutputCheck::take_result(ByteView payload) {
  result_ = Bytes(payload);
  const auto result = wire::parse_task_result(payload);
  if (!result || result->task_id != task_) return fail("result_is_true", "no result of this task");
  check_end(*result, book_->find(task_));
}

void OutputCheck::check_end(const wire::TaskResult& result, const Program* program) {
  std::uint64_t left_out = 0;
  for (const auto& [at, length] : gaps_) left_out += length;
  // What is missing was acknowledged before the backup was restored, and its node had dropped it.
  if (left_out > result.bytes_left_out && book_->may_lack_acknowledged()) return;
  // What the hub says of its own accord knows nothing of it.
  if (left_out != result.bytes_left_out && !result.out.sha256.empty())
    return fail("result_is_true", "another gap than in the stream");
  if (const auto* failed = std::get_if<wire::Failed>(&result.end)) {
    const bool is_lost = failed->code == ErrorCode::task_lost;
    if (program == nullptr || program->was_destroyed || program->is_echo) return;
    if (is_lost && book_->may_be_removed(task_)) return;
    if (is_lost) return fail("result_is_true", "lost, and was not");
    // What the hub says of a task that it gave up: it knows no totals, and whoever kept the task's bytes may
    // yet have had them run (docs/decisions/0037).
    if (result.out.sha256.empty()) return;
    if (!is_whole(result, *program)) fail("finished_is_complete", failed->message);
    return;
  }
  if (program == nullptr || !program->end)
    return fail("result_is_true", "an end of a program that has not ended");
  if (left_out > 0) return fail("finished_is_complete", "an end with a gap before it");
  const auto* exited = std::get_if<wire::Exited>(&result.end);
  const auto* signalled = std::get_if<wire::Signalled>(&result.end);
  const bool is_same = exited != nullptr ? program->end->signal == 0 && exited->code == program->end->code
                                         : signalled->signal == program->end->signal;
  if (!is_same) return fail("result_is_true", "another end");
  if (!is_whole(result, *program)) fail("finished_is_complete", "bytes are missing");
}

bool OutputCheck::is_whole(const wire::TaskResult& result, const Program& program) const {
  return program_offset(offset_) == program.written.size() &&
         result.out == totals_of(program, OutputKind::out) &&
         result.err == totals_of(program, OutputKind::err);
}

}  // namespace outhaul::sim
