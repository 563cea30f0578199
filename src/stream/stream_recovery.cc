// How a StreamStore comes back: the journal's records replayed, the segments read, both joined.
#include <algorithm>

#include "base/assert.h"
#include "stream/stream_store_parts.h"

namespace outhaul::stream {
namespace {

std::unexpected<Error> corrupt(const char* what) {
  return fail(ErrorCode::journal_corrupt, std::string("journal: ") + what);
}

Result<void> replay_record(StreamLog& log, const StreamJournalEntry& entry) {
  if (entry.record.header.offset != log.end.offset || log.end.complete)
    return corrupt("stream records do not continue");
  log.note_appended(EncodedRecord::assume(entry.record.header, SharedSlice::copy(entry.encoded)));
  return {};
}

void replay_in_segments(StreamLog& log, const StreamJournalEntry& entry) {
  log.tail.clear();
  log.marked = entry.position.offset;
  if (log.end.offset < log.marked) log.end.offset = log.marked;
}

// Whether the stream's first file is there. It begins where the stream does, or, when the journal has lost
// that mark with its unsynced end, within what the journal still holds.
bool has_first_file(const StreamLog& log, const std::vector<FileEntry>& files) {
  const std::uint64_t first = start_in_segment_name(files.front().name);
  const bool is_marked = log.marked > log.start;
  return is_marked ? first == log.start : first <= log.end.offset;
}

}  // namespace

Result<void> StreamStore::replay_created(const StreamJournalEntry& entry) {
  auto id = StreamId::parse(entry.id);
  if (!id) return corrupt("a stream whose id is none");
  if (find_log(*id) != nullptr || parts_->by_number.contains(entry.number))
    return corrupt("a stream made twice");
  auto log = std::make_shared<StreamLog>(*id, entry.number, entry.incarnation);
  parts_->next_number = std::max(parts_->next_number, entry.number + 1);
  parts_->by_number[entry.number] = log.get();
  parts_->logs.emplace(*id, std::move(log));
  return {};
}

Result<void> StreamStore::replay(JournalType type, ByteView payload) {
  OUTHAUL_TRY(entry, parse_stream_journal(type, payload));
  if (entry.type == StreamJournalType::created) return replay_created(entry);
  const auto found = parts_->by_number.find(entry.number);
  if (found == parts_->by_number.end()) return corrupt("a record of a stream that was not made");
  StreamLog& log = *found->second;
  switch (entry.type) {
    case StreamJournalType::record: return replay_record(log, entry);
    case StreamJournalType::in_segments: replay_in_segments(log, entry); return {};
    case StreamJournalType::begins_at: log.begin_at(entry.position); return {};
    default: {
      const StreamId id = log.id;
      parts_->forgotten.emplace(entry.number, ForgottenStream{id, log.incarnation});
      parts_->by_number.erase(entry.number);
      parts_->logs.erase(id);
      return {};
    }
  }
}

Result<void> StreamStore::write_live(Journal& journal) {
  for (const auto& [number, gone] : parts_->forgotten) {
    OUTHAUL_CHECK(journal.append(type_of(StreamJournalType::created),
                                 encode_created(number, gone.incarnation, gone.id.text())));
    OUTHAUL_CHECK(journal.append(type_of(StreamJournalType::forgotten), encode_forgotten(number)));
  }
  for (const auto& [id, log] : parts_->logs) {
    OUTHAUL_CHECK(journal.append(type_of(StreamJournalType::created),
                                 encode_created(log->number, log->incarnation, id.text())));
    const bool is_in_segments = log->segments != nullptr && log->head.empty();
    const bool is_empty = !is_in_segments && log->head.empty() && log->tail.is_empty();
    const StreamPosition begin = is_empty ? log->end : StreamPosition{log->start, false};
    OUTHAUL_CHECK(
        journal.append(type_of(StreamJournalType::begins_at), encode_begins_at(log->number, begin)));
    if (is_in_segments) {
      // Damage keeps the mark that proves it.
      const std::uint64_t synced = std::max(log->segments->synced().offset, log->marked);
      OUTHAUL_CHECK(
          journal.append(type_of(StreamJournalType::in_segments), encode_in_segments(log->number, synced)));
      continue;
    }
    const Bytes prefix = encode_record_prefix(log->number);
    const auto write = [&](const EncodedRecord& record) -> Result<void> {
      const ByteView parts[] = {prefix, record.bytes().view()};
      OUTHAUL_CHECK(journal.append(type_of(StreamJournalType::record), parts));
      return {};
    };
    for (const auto& record : log->head) OUTHAUL_CHECK(write(record));
    if (log->segments != nullptr) continue;
    for (const auto& record : log->tail.records()) OUTHAUL_CHECK(write(record));
  }
  return {};
}

Task<Result<void>> StreamStore::recover(Journal& journal) {
  parts_->journal = &journal;
  OUTHAUL_CO_TRY(files, parts_->disk.list());
  std::erase_if(files, [](const FileEntry& file) { return !file.name.starts_with(segment_prefix); });
  for (const auto& [id, log] : parts_->logs) {
    OUTHAUL_CO_TRY(own, take_files_of(*log, files));
    OUTHAUL_CO_CHECK(load_segments(*log, std::move(own)));
    // What was read is now told to others: it must not be lost by the next crash.
    if (const auto segments = log->segments) OUTHAUL_CO_CHECK(co_await segments->sync());
    log->durable = log->end;
    log->journal_position = journal.appended();
    account(*log);
  }
  OUTHAUL_CO_CHECK(remove_forgotten(files));
  OUTHAUL_CO_CHECK(set_aside_orphans(files));
  // Before the journal may stop naming them.
  OUTHAUL_CO_CHECK(co_await parts_->disk.sync_directory());
  parts_->forgotten.clear();
  recovery_.streams = parts_->logs.size();
  parts_->reserve.take();
  shrink_memory();
  co_return co_await journal.durable(journal.appended());
}

// Takes the stream's files out of `files`, and removes those that it had given up.
Result<std::vector<FileEntry>> StreamStore::take_files_of(const StreamLog& log,
                                                          std::vector<FileEntry>& files) {
  const std::string prefix = segment_name_prefix(log.id.text(), log.incarnation);
  std::vector<FileEntry> own;
  for (const auto& file : files) {
    if (!file.name.starts_with(prefix)) continue;
    if (start_in_segment_name(file.name) >= log.start) {
      own.push_back(file);
      continue;
    }
    OUTHAUL_CHECK(parts_->disk.remove(file.name));
    ++recovery_.removed_files;
  }
  std::erase_if(files, [&](const FileEntry& file) { return file.name.starts_with(prefix); });
  return own;
}

// Without the first file the others are either damage, or were never acknowledged: a power loss has taken
// the name of the first, which no sync had made durable.
Result<void> StreamStore::refuse_files(StreamLog& log, std::vector<FileEntry>& files) {
  const bool is_damage = log.marked > log.start;
  log.is_damaged = is_damage;
  for (const auto& file : files) {
    SegmentCut cut{file.name, 0, is_damage, "the file before it is missing", {}};
    if (!is_damage) {
      OUTHAUL_TRY(moved_to, set_aside(parts_->disk, file.name));
      cut.moved_to = std::move(moved_to);
    }
    recovery_.cuts.push_back(std::move(cut));
  }
  files.clear();
  return {};
}

Result<void> StreamStore::load_segments(StreamLog& log, std::vector<FileEntry> files) {
  if (!files.empty() && !has_first_file(log, files)) OUTHAUL_CHECK(refuse_files(log, files));
  auto segments = std::make_shared<SegmentLog>(
      parts_->disk, segment_name_prefix(log.id.text(), log.incarnation), parts_->config.segment_bytes);
  const auto reading = parts_->config.reads_everything ? SegmentLog::Reading::everything
                                                       : SegmentLog::Reading::what_is_not_trusted;
  OUTHAUL_TRY(cuts, segments->load(files, log.marked, reading));
  for (const auto& cut : cuts) log.is_damaged = log.is_damaged || cut.is_damage;
  std::ranges::move(cuts, std::back_inserter(recovery_.cuts));
  const std::uint64_t held_until = std::max(log.start, segments->end());
  if (log.marked > held_until && !log.is_damaged) {
    log.is_damaged = true;
    recovery_.cuts.push_back(
        {segments->name_at(held_until), 0, true, "bytes that were durable are missing", {}});
  }
  if (segments->is_empty() && log.marked <= log.start) return {};
  if (!log.is_damaged) OUTHAUL_CHECK(join_with_journal(log, *segments));
  if (!segments->is_empty() && log.start != segments->start()) {
    // The journal had lost where the stream begins; from now on its marks rely on it.
    log.start = segments->start();
    OUTHAUL_CHECK(note_start(log));
  }
  log.end = segments->is_empty() ? StreamPosition{log.start, false}
                                 : StreamPosition{segments->end(), segments->is_complete()};
  if (log.end.complete) log.completing_offset = segments->completing_offset();
  log.tail.clear();
  log.segments = std::move(segments);
  return {};
}

// The journal may hold more of a stream than its segments do, when these were not yet durable.
Result<void> StreamStore::join_with_journal(StreamLog& log, SegmentLog& segments) {
  for (const auto& record : log.tail.records()) {
    const bool is_new_end = completes_stream(record.header().kind) && !segments.is_complete();
    if (record.end_offset() <= segments.end() && !is_new_end) continue;
    if (record.header().offset > segments.end())
      return corrupt("a stream's segments and records do not meet");
    OUTHAUL_CHECK(segments.append(record.tail_from(segments.end())));
  }
  return {};
}

Result<void> StreamStore::remove_forgotten(std::vector<FileEntry>& files) {
  for (const auto& [number, gone] : parts_->forgotten) {
    const std::string prefix = segment_name_prefix(gone.id.text(), gone.incarnation);
    for (const auto& file : files) {
      if (!file.name.starts_with(prefix)) continue;
      OUTHAUL_CHECK(parts_->disk.remove(file.name));
      ++recovery_.removed_files;
    }
    std::erase_if(files, [&](const FileEntry& file) { return file.name.starts_with(prefix); });
  }
  return {};
}

// A stream that was never made durable, or one whose removal a power loss has undone. Or the journal is not
// the one that belongs to these files.
Result<void> StreamStore::set_aside_orphans(const std::vector<FileEntry>& files) {
  for (const auto& file : files) {
    OUTHAUL_TRY(moved_to, set_aside(parts_->disk, file.name));
    recovery_.set_aside.push_back({std::move(moved_to), file.size});
  }
  return {};
}

}  // namespace outhaul::stream
