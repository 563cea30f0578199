#include "stream/stream_store.h"

#include <algorithm>

#include "base/assert.h"
#include "stream/stream_store_parts.h"

namespace outhaul::stream {
namespace {

// A restart may bring back this much of what a small stream had dropped, and no more.
constexpr std::uint64_t drop_mark_bytes = 64U << 10U;

StreamPosition end_of(const EncodedRecord& record) {
  return {record.end_offset(), completes_stream(record.header().kind)};
}

Result<void> check_length(const StreamLog& log, std::uint64_t more) {
  if (more <= max_stream_offset - log.end.offset) return {};
  return fail(ErrorCode::too_large, "stream: longer than an offset can say");
}

// Small, and said also on a full disk.
bool is_last_word(RecordKind kind) { return completes_stream(kind) || kind == RecordKind::gap; }

}  // namespace

StreamStore::StreamStore(const Executor& executor, Disk& disk, StreamStoreConfig config)
    : parts_(std::make_unique<Parts>(executor, disk, config)), room_(executor), failed_(executor) {}

StreamStore::~StreamStore() = default;

StreamLog* StreamStore::find_log(const StreamId& id) const {
  const auto found = parts_->logs.find(id);
  return found == parts_->logs.end() ? nullptr : found->second.get();
}

Result<StreamLog*> StreamStore::need_log(const StreamId& id) const {
  if (auto* log = find_log(id)) return log;
  return fail(ErrorCode::not_found, "stream: not held here");
}

std::uint64_t StreamStore::disk_bytes() const { return parts_->disk_bytes; }
std::uint64_t StreamStore::memory_bytes() const { return parts_->memory_bytes; }

void StreamStore::account(StreamLog& log) {
  const std::uint64_t memory = log.is_forgotten ? 0 : log.tail.memory_bytes();
  const std::uint64_t disk = log.is_forgotten ? 0 : log.encoded_bytes();
  parts_->memory_bytes += memory - log.accounted_memory;
  parts_->disk_bytes += disk - log.accounted_disk;
  log.accounted_memory = memory;
  log.accounted_disk = disk;
}

// --- the writer's side ---

Result<void> StreamStore::create(const StreamId& id, const Incarnation& incarnation) {
  if (const auto* log = find_log(id)) {
    if (log->incarnation == incarnation) return {};
    return fail(ErrorCode::conflict, "stream: held with another incarnation");
  }
  auto log = std::make_shared<StreamLog>(id, parts_->next_number, incarnation);
  OUTHAUL_CHECK(note_in_journal(*log, type_of(StreamJournalType::created),
                                encode_created(log->number, incarnation, id.text())));
  ++parts_->next_number;
  parts_->by_number[log->number] = log.get();
  parts_->logs.emplace(id, std::move(log));
  return {};
}

Result<void> StreamStore::note_in_journal(StreamLog& log, JournalType type, ByteView payload) {
  OUTHAUL_TRY(position, parts_->journal->append(type, payload));
  log.journal_position = position;
  return {};
}

Result<void> StreamStore::note_start(StreamLog& log) {
  const StreamPosition start{.offset = log.start, .complete = false};
  return note_in_journal(log, type_of(StreamJournalType::begins_at), encode_begins_at(log.number, start));
}

Result<EncodedRecord> StreamStore::append(const StreamId& id, RecordKind kind, WallTime time,
                                          ByteView payload) {
  OUTHAUL_TRY(log, need_log(id));
  if (payload.size() > max_record_payload_bytes || (payload.empty() && !completes_stream(kind)) ||
      kind == RecordKind::gap) {
    return fail(ErrorCode::invalid, "stream: no payload for a record of this kind");
  }
  OUTHAUL_CHECK(check_length(*log, payload.size()));
  auto record = EncodedRecord::make(kind, log->end.offset, time, payload);
  OUTHAUL_CHECK(admit(*log, record));
  OUTHAUL_CHECK(keep(*log, {&record, 1}));
  return record;
}

Result<EncodedRecord> StreamStore::append_gap(const StreamId& id, WallTime time, std::uint64_t missing) {
  OUTHAUL_TRY(log, need_log(id));
  if (missing == 0) return fail(ErrorCode::invalid, "stream: a gap of no bytes");
  OUTHAUL_CHECK(check_length(*log, missing));
  auto record = EncodedRecord::make_gap(log->end.offset, time, missing);
  OUTHAUL_CHECK(admit(*log, record));
  OUTHAUL_CHECK(keep(*log, {&record, 1}));
  return record;
}

Result<AppendOutcome> StreamStore::append_encoded(const StreamId& id, const EncodedRecord& record) {
  OUTHAUL_TRY(log, need_log(id));
  const StreamPosition end = log->end;
  const std::uint64_t offset = record.header().offset;
  if (offset > end.offset) {
    return fail(Error(ErrorCode::stream_gap, "stream: bytes are missing before this record")
                    .with("end", std::to_string(end.offset)));
  }
  const bool is_new_end = offset == end.offset && !end.complete && completes_stream(record.header().kind);
  if (record.end_offset() <= end.offset && !is_new_end) return AppendOutcome::duplicate;
  OUTHAUL_CHECK(admit(*log, record));
  const auto fresh = record.tail_from(end.offset);
  OUTHAUL_CHECK(keep(*log, {&fresh, 1}));
  return AppendOutcome::appended;
}

Result<void> StreamStore::append_run(const StreamId& id, std::span<const EncodedRecord> records) {
  OUTHAUL_TRY(log, need_log(id));
  // Of a run that did not fit the last time, the front may be there already.
  while (!records.empty() && log->end >= end_of(records.front())) records = records.subspan(1);
  if (records.empty()) return {};
  const std::uint64_t from = records.front().header().offset;
  if (from > log->end.offset) return fail(ErrorCode::stream_gap, "stream: bytes are missing before this run");
  std::vector<EncodedRecord> cut;
  if (from < log->end.offset) {
    cut.assign(records.begin(), records.end());
    cut.front() = cut.front().tail_from(log->end.offset);
    records = cut;
  }
  std::uint64_t ordinary_bytes = 0;
  for (const auto& record : records) {
    if (!is_last_word(record.header().kind)) ordinary_bytes += record.bytes().size();
  }
  OUTHAUL_CHECK(admit(*log, ordinary_bytes));
  return keep(*log, records);
}

// Whether the stream may take this record now.
Result<void> StreamStore::admit(const StreamLog& log, const EncodedRecord& record) {
  return admit(log, is_last_word(record.header().kind) ? 0 : record.bytes().size());
}

Result<void> StreamStore::admit(const StreamLog& log, std::uint64_t ordinary_bytes) {
  if (log.end.complete) return fail(ErrorCode::conflict, "stream: complete, nothing follows");
  if (log.is_damaged) return fail(ErrorCode::journal_corrupt, "stream: damaged, nothing is appended");
  return ordinary_bytes == 0 ? Result<void>() : check_room(ordinary_bytes);
}

Result<void> StreamStore::check_room(std::uint64_t bytes) {
  OUTHAUL_CHECK(parts_->meter.check(parts_->disk_bytes, bytes));
  if (!parts_->reserve.is_held()) parts_->reserve.take();
  return {};
}

void StreamStore::release_reserve() { parts_->reserve.release(); }

Result<void> StreamStore::keep(StreamLog& log, std::span<const EncodedRecord> records) {
  auto kept = keep_once(log, records);
  const bool is_full = !kept && kept.error().code() == ErrorCode::disk_full;
  if (is_full && is_last_word(records.back().header().kind) && parts_->reserve.release()) {
    // A part of a small stream's run may have been kept.
    while (log.end >= end_of(records.front())) records = records.subspan(1);
    kept = keep_once(log, records);
  }
  if (!kept) return kept;
  if (log.segments != nullptr) {
    log.tail.shrink_to(parts_->config.tail_bytes);
    if (log.segments->unsynced_bytes() >= parts_->config.flush_bytes) flush_in_background(log);
  }
  account(log);
  shrink_memory();
  log.wake();
  return {};
}

Result<void> StreamStore::keep_once(StreamLog& log, std::span<const EncodedRecord> records) {
  std::uint64_t bytes = 0;
  for (const auto& record : records) bytes += record.bytes().size();
  if (log.segments == nullptr && log.tail.encoded_bytes() + bytes > parts_->config.small_stream_bytes) {
    OUTHAUL_CHECK(move_to_segments(log));
  }
  if (log.segments != nullptr) OUTHAUL_CHECK(log.segments->append(records));
  for (const auto& record : records) {
    if (log.segments == nullptr) OUTHAUL_CHECK(append_to_journal(log, record));
    log.note_appended(record);
  }
  return {};
}

Result<void> StreamStore::append_to_journal(StreamLog& log, const EncodedRecord& record) {
  const Bytes prefix = encode_record_prefix(log.number);
  const ByteView parts[] = {prefix, record.bytes().view()};
  OUTHAUL_TRY(position, parts_->journal->append(type_of(StreamJournalType::record), parts));
  log.journal_position = position;
  return {};
}

// The stream goes on in files of its own, which hold what the journal holds of it too. On failure it stays
// small.
Result<void> StreamStore::move_to_segments(StreamLog& log) {
  // From now on the journal's start is where the first file must begin.
  if (std::exchange(log.dropped_unmarked, 0) > 0) OUTHAUL_CHECK(note_start(log));
  auto segments = std::make_shared<SegmentLog>(
      parts_->disk, segment_name_prefix(log.id.text(), log.incarnation), parts_->config.segment_bytes);
  for (const auto& record : log.tail.records()) {
    if (auto appended = segments->append(record); !appended) {
      for (const auto& name : segments->file_names()) (void)parts_->disk.remove(name);
      return appended;
    }
  }
  log.head.assign(log.tail.records().begin(), log.tail.records().end());
  if (!log.tail.is_empty()) log.start = log.tail.start();
  log.segments = std::move(segments);
  flush_in_background(log);
  return {};
}

Result<void> StreamStore::adopt_position(const StreamId& id, StreamPosition position) {
  OUTHAUL_TRY(log, need_log(id));
  if (position.offset <= log->output_end()) return {};
  OUTHAUL_TRY(last, log->completing_record());
  OUTHAUL_CHECK(
      note_in_journal(*log, type_of(StreamJournalType::begins_at), encode_begins_at(log->number, position)));
  if (log->segments) remove_when_durable(log->segments->file_names(), log->journal_position);
  log->segments = nullptr;
  log->head.clear();
  log->begin_at(position);
  log->durable = position;
  ++log->adoptions;
  account(*log);
  log->wake();
  if (!last) return {};
  OUTHAUL_CHECK(append(id, last->header().kind, last->header().time, last->payload()));
  // Who first wrote it has waited for its sync already, and nobody else does.
  flush_in_background(*log);
  return {};
}

// --- durability ---

Task<Result<void>> StreamStore::sync(StreamLog& log, JournalPosition journaled) {
  // Segments first: the journal may come to name their extent.
  if (const auto segments = log.segments) OUTHAUL_CO_CHECK(co_await segments->sync());
  co_return co_await parts_->journal->durable(journaled);
}

Task<Result<StreamPosition>> StreamStore::durable(StreamId id) {
  const auto found = parts_->logs.find(id);
  if (found == parts_->logs.end()) co_return fail(ErrorCode::not_found, "stream: not held here");
  const std::shared_ptr<StreamLog> log = found->second;
  while (true) {
    const std::uint64_t adoptions = log->adoptions;
    const StreamPosition covered = log->end;
    const JournalPosition journaled = log->journal_position;
    if (auto synced = co_await sync(*log, journaled); !synced) {
      failed_.set();
      co_return fail(std::move(synced).error());
    }
    if (log->is_forgotten) co_return fail(ErrorCode::not_found, "stream: forgotten meanwhile");
    // A record that moved meanwhile is another one, and not covered.
    if (log->adoptions != adoptions) continue;
    log->durable = std::max(log->durable, covered);
    break;
  }
  note_synced(*log);
  log->wake();
  co_return log->durable;
}

void StreamStore::note_synced(StreamLog& log) {
  if (log.segments == nullptr) return;
  const std::uint64_t synced = log.segments->synced().offset;
  if (!log.head.empty() && synced >= log.head.back().end_offset()) log.head = {};
  if (!log.head.empty() || (log.marked > 0 && synced < log.marked + parts_->config.flush_bytes)) return;
  // Without the mark a restart only reads more: no reason to fail.
  if (note_in_journal(log, type_of(StreamJournalType::in_segments), encode_in_segments(log.number, synced))) {
    log.marked = synced;
  }
}

void StreamStore::flush_in_background(StreamLog& log) {
  if (std::exchange(log.is_flushing, true)) return;
  parts_->tasks.spawn([this, id = log.id]() -> Task<void> {
    // The segments remember a failure and tell whoever appends or waits next.
    (void)co_await durable(id);
    if (auto* flushed = find_log(id)) flushed->is_flushing = false;
  });
}

void StreamStore::remove_when_durable(std::vector<std::string> names, JournalPosition position) {
  if (names.empty()) return;
  parts_->tasks.spawn([this, names = std::move(names), position]() mutable {
    return remove_files(std::move(names), position);
  });
}

Task<void> StreamStore::remove_files(std::vector<std::string> names, JournalPosition position) {
  // Never before: a stream that the journal still names must not miss its files.
  const auto known = co_await parts_->journal->durable(position);
  if (!known) co_return;
  for (const auto& name : names) (void)parts_->disk.remove(name);
}

Task<void> StreamStore::close() { co_await parts_->tasks.join(); }

// --- the reader's side ---

Result<ReadChunk> StreamStore::read(const StreamId& id, std::uint64_t from, std::size_t max_bytes) {
  OUTHAUL_TRY(log, need_log(id));
  auto chunk = log->read(from, max_bytes);
  if (chunk) log->note_read(chunk->next.offset);
  return chunk;
}

Task<Result<void>> StreamStore::wait_for_more(StreamId id, std::uint64_t from) {
  for (;;) {
    auto* log = find_log(id);
    if (log == nullptr) co_return fail(ErrorCode::not_found, "stream: not held here");
    if (log->has_more(from)) co_return Result<void>();
    if (!log->growth) log->growth = std::make_unique<Event>(parts_->tasks.executor());
    co_await log->growth->wait_pulse();
  }
}

std::uint64_t StreamStore::unread_bytes(const StreamId& id) const {
  const auto* log = find_log(id);
  return log == nullptr ? 0 : log->unread_bytes();
}

Task<Result<void>> StreamStore::wait_for_readers(StreamId id, std::uint64_t bytes) {
  for (;;) {
    auto* log = find_log(id);
    if (log == nullptr) co_return fail(ErrorCode::not_found, "stream: not held here");
    if (log->unread_bytes() <= bytes) co_return Result<void>();
    if (!log->reading) log->reading = std::make_unique<Event>(parts_->tasks.executor());
    co_await log->reading->wait_pulse();
  }
}

// --- life ---

std::optional<StreamTotals> StreamStore::find(const StreamId& id) const {
  const auto* log = find_log(id);
  if (log == nullptr) return std::nullopt;
  return log->totals();
}

std::vector<StreamId> StreamStore::ids() const {
  std::vector<StreamId> all;
  for (const auto& [id, log] : parts_->logs) all.push_back(id);
  return all;
}

Result<Bytes> StreamStore::take_small(const StreamId& id) const {
  OUTHAUL_TRY(log, need_log(id));
  if (!log->end.complete) return fail(ErrorCode::conflict, "stream: not complete");
  if (log->segments != nullptr) return fail(ErrorCode::too_large, "stream: not small");
  if (log->start > 0) return fail(ErrorCode::stream_gap, "stream: its front was dropped");
  Bytes all;
  all.reserve(log->tail.encoded_bytes());
  for (const auto& record : log->tail.records()) all += record.bytes().view();
  return all;
}

Result<void> StreamStore::drop(const StreamId& id, std::uint64_t up_to) {
  OUTHAUL_TRY(log, need_log(id));
  log->released = std::max(log->released, std::min(up_to, log->end.offset));
  if (log->segments == nullptr) {
    log->dropped_unmarked += log->tail.drop(up_to);
    log->start = log->tail.is_empty() ? log->end.offset : log->tail.start();
  } else if (auto names = log->segments->drop(up_to); !names.empty()) {
    log->start = log->segments->start();
    OUTHAUL_CHECK(note_start(*log));
    remove_when_durable(std::move(names), log->journal_position);
  }
  account(*log);
  room_.pulse();
  if (log->dropped_unmarked < drop_mark_bytes) return {};
  log->dropped_unmarked = 0;
  return note_start(*log);
}

Result<void> StreamStore::forget(const StreamId& id) {
  OUTHAUL_TRY(log, need_log(id));
  const auto note = [&] {
    return note_in_journal(*log, type_of(StreamJournalType::forgotten), encode_forgotten(log->number));
  };
  auto noted = note();
  // A full disk is freed by forgetting: that must not fail for want of a few bytes.
  if (!noted && noted.error().code() == ErrorCode::disk_full && parts_->reserve.release()) noted = note();
  if (!noted) return noted;
  const std::shared_ptr<StreamLog> gone = parts_->logs.at(id);
  if (gone->segments) bury(*gone);
  parts_->by_number.erase(gone->number);
  parts_->logs.erase(id);
  gone->is_forgotten = true;
  account(*gone);
  gone->wake();
  room_.pulse();
  return {};
}

// Files of a stream that is forgotten. A power loss may undo their removal until the directory is synced.
void StreamStore::bury(const StreamLog& log) {
  parts_->forgotten.emplace(log.number, ForgottenStream{log.id, log.incarnation});
  parts_->tasks.spawn([this, names = log.segments->file_names(), number = log.number,
                       position = log.journal_position]() mutable -> Task<void> {
    co_await remove_files(std::move(names), position);
    if (co_await parts_->disk.sync_directory()) parts_->forgotten.erase(number);
  });
}

// --- memory ---

void StreamStore::shrink_memory() {
  if (parts_->memory_bytes <= parts_->config.max_memory_bytes) return;
  // Well below the limit, so that this is rare.
  const std::uint64_t enough = parts_->config.max_memory_bytes / 4 * 3;
  std::vector<StreamLog*> largest_first;
  for (const auto& [id, log] : parts_->logs) largest_first.push_back(log.get());
  std::ranges::sort(largest_first, [](const StreamLog* a, const StreamLog* b) {
    return std::pair(b->accounted_memory, a->number) < std::pair(a->accounted_memory, b->number);
  });
  // Tails of large streams cost nothing to let go; a small stream has to move to a file first.
  for (const bool is_large : {true, false}) {
    for (auto* log : largest_first) {
      if (parts_->memory_bytes <= enough) return;
      if ((log->segments != nullptr) != is_large || log->tail.is_empty()) continue;
      if (!is_large && !move_to_segments(*log)) return;
      log->tail.clear();
      account(*log);
    }
  }
}

}  // namespace outhaul::stream
