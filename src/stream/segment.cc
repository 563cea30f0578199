#include "stream/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "stream/record_scan.h"

namespace outhaul::stream {
namespace {

constexpr std::size_t scan_block_bytes = 1U << 20U;
constexpr std::size_t walk_block_bytes = max_record_bytes;
// One entry of the index stands for this much of a file.
constexpr std::uint64_t index_step_bytes = 1U << 20U;

std::unexpected<Error> damaged(const std::string& file, std::uint64_t offset) {
  return fail(Error(ErrorCode::journal_corrupt, fmt::format("{}: damaged at offset {}", file, offset))
                  .with("file", file)
                  .with("offset", std::to_string(offset)));
}

}  // namespace

// Where a record with this stream offset begins in its file.
struct IndexEntry {
  std::uint64_t offset = 0;
  std::uint64_t place = 0;
};

struct SegmentLog::Segment {
  std::string name;
  std::uint64_t start = 0;  // stream offset of its first record
  std::uint64_t bytes = 0;
  std::uint64_t synced_bytes = 0;
  bool has_durable_name = false;
  std::shared_ptr<File> file;     // null while nobody needs it
  std::vector<IndexEntry> index;  // sorted; its first entry is the start
  IndexEntry last_read;           // where a reader in sequence goes on

  bool is_synced() const { return has_durable_name && synced_bytes >= bytes; }
  void note(std::uint64_t offset, std::uint64_t place) {
    if (index.empty() || place >= index.back().place + index_step_bytes) index.push_back({offset, place});
  }
  // The last known record at or before `offset`.
  IndexEntry floor(std::uint64_t offset) const {
    const auto after = std::ranges::upper_bound(index, offset, {}, &IndexEntry::offset);
    IndexEntry found = after == index.begin() ? IndexEntry{.offset = start, .place = 0} : *std::prev(after);
    if (last_read.offset <= offset && last_read.place > found.place) found = last_read;
    return found;
  }
};

struct SegmentLog::Wanted {
  std::uint64_t from = 0;
  std::size_t max_bytes = 0;
  bool with_completing = false;
};

// Adds the whole records at the front of a block to the chunk, the first one cut where the reader stands;
// gives how much of the block they are.
std::size_t SegmentLog::take_records(const SharedSlice& block, const Wanted& wanted, ReadChunk& chunk) {
  std::size_t at = 0;
  std::size_t uncut_from = 0;
  while (at < block.size()) {
    const auto record = parse_record(block.view().substr(at));
    if (!record) break;
    const bool completes = completes_stream(record->header.kind);
    if (completes && !wanted.with_completing) break;
    if (at > 0 && at + record->size() > wanted.max_bytes) break;
    if (record->header.offset < wanted.from) {
      const auto whole = EncodedRecord::assume(record->header, block.part(at, record->size()));
      chunk.add(whole.tail_from(wanted.from));
      uncut_from = at + record->size();
    }
    at += record->size();
    chunk.next = {record->end_offset(), completes};
  }
  if (at > uncut_from) {
    chunk.slices.push_back(block.part(uncut_from, at - uncut_from));
    chunk.bytes += at - uncut_from;
  }
  return at;
}

void ReadChunk::add(const EncodedRecord& record) {
  slices.push_back(record.bytes());
  bytes += record.bytes().size();
  next = {record.end_offset(), completes_stream(record.header().kind)};
}

std::string segment_name_prefix(std::string_view stream_id, const Incarnation& incarnation) {
  return fmt::format("{}{}-{}-", segment_prefix, stream_id, to_hex(incarnation.bytes()));
}

std::uint64_t start_in_segment_name(std::string_view name) {
  std::uint64_t start = 0;
  const auto digits = name.substr(name.rfind('-') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), start, 16);
  return start;
}

SegmentLog::SegmentLog(Disk& disk, std::string prefix, std::uint64_t segment_bytes)
    : disk_(disk), prefix_(std::move(prefix)), segment_bytes_(segment_bytes) {}

SegmentLog::~SegmentLog() = default;

std::uint64_t SegmentLog::start() const { return segments_.empty() ? end_.offset : segments_.front()->start; }

Result<std::vector<SegmentCut>> SegmentLog::load(const std::vector<FileEntry>& files,
                                                 std::uint64_t trusted_until, Reading reading) {
  trusted_until_ = trusted_until;
  std::vector<SegmentCut> cuts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto segment = std::make_shared<Segment>();
    segment->name = files[i].name;
    segment->start = start_in_segment_name(files[i].name);
    segment->bytes = files[i].size;
    const bool is_first = segments_.empty();
    if (!is_first && segment->start != end_.offset) {
      OUTHAUL_TRY(cut, reject(*segment));
      cuts.push_back(std::move(cut));
      continue;
    }
    end_ = {segment->start, false};
    const bool is_trusted = reading == Reading::what_is_not_trusted && i + 1 < files.size() &&
                            start_in_segment_name(files[i + 1].name) <= trusted_until;
    if (is_trusted) {
      segment->synced_bytes = segment->bytes;
      segment->has_durable_name = true;
      end_ = {start_in_segment_name(files[i + 1].name), false};
    } else {
      OUTHAUL_TRY(cut, scan(*segment));
      unsynced_bytes_ += segment->bytes;
      if (cut) cuts.push_back(std::move(*cut));
    }
    bytes_ += segment->bytes;
    segments_.push_back(std::move(segment));
    if (!cuts.empty() && cuts.back().is_damage) break;
  }
  return cuts;
}

// A file that does not begin where the one before it ends: that one lost an end that was never synced, and
// so this one was never acknowledged either. Unless the missing bytes were durable. It is set aside and not
// removed: somebody may have shortened the file before it.
Result<SegmentCut> SegmentLog::reject(const Segment& segment) {
  SegmentCut cut{.file = segment.name,
                 .offset = 0,
                 .is_damage = end_.offset < trusted_until_,
                 .reason = "it does not begin where the file before it ends",
                 .moved_to = {}};
  if (cut.is_damage) return cut;
  OUTHAUL_TRY(moved_to, set_aside(disk_, segment.name));
  cut.moved_to = std::move(moved_to);
  return cut;
}

// Reads a file through, notes its index, moves end_ on, and cuts a torn end.
Result<std::optional<SegmentCut>> SegmentLog::scan(Segment& segment) {
  OUTHAUL_TRY(file, file_of(segment));
  std::uint64_t place = 0;
  while (place < segment.bytes) {
    OUTHAUL_TRY(block, file->read_at(place, scan_block_bytes));
    const bool is_last_block = place + block.size() >= segment.bytes;
    std::size_t at = 0;
    for (;;) {
      const auto record = parse_record(ByteView(block).substr(at));
      const bool fits = record && record->header.offset == end_.offset && !end_.complete;
      // A record at the block's edge is whole in the next block.
      if (!fits && (at == block.size() || (!is_last_block && at > 0 && block.size() - at < max_record_bytes)))
        break;
      if (!fits)
        return cut_at(segment, *file, place + at, record ? "records do not continue" : record.error().what());
      segment.note(record->header.offset, place + at);
      last_record_ = record->header.offset;
      end_ = {record->end_offset(), completes_stream(record->header.kind)};
      at += record->size();
    }
    place += at;
  }
  return std::nullopt;
}

Result<std::optional<SegmentCut>> SegmentLog::cut_at(Segment& segment, File& file, std::uint64_t place,
                                                     const std::string& reason) {
  SegmentCut cut{.file = segment.name, .offset = place, .is_damage = false, .reason = reason, .moved_to = {}};
  OUTHAUL_TRY(rest, file.read_at(place, segment.bytes - place));
  cut.is_damage = end_.offset < trusted_until_ || is_damaged(rest, end_.offset);
  if (!cut.is_damage) OUTHAUL_CHECK(file.truncate(place));
  segment.bytes = place;
  return cut;
}

Result<std::shared_ptr<File>> SegmentLog::file_of(Segment& segment) {
  if (segment.file == nullptr) {
    OUTHAUL_TRY(opened, disk_.open(segment.name, OpenMode::existing));
    segment.file = std::move(opened);
  }
  return segment.file;
}

Result<void> SegmentLog::begin_segment(std::uint64_t offset) {
  auto segment = std::make_shared<Segment>();
  segment->name = fmt::format("{}{:016x}", prefix_, offset);
  segment->start = offset;
  OUTHAUL_TRY(file, disk_.open(segment->name, OpenMode::create));
  segment->file = std::move(file);
  // A finished file stays open only until it is synced.
  segments_.push_back(std::move(segment));
  return {};
}

Result<void> SegmentLog::append(std::span<const EncodedRecord> records) {
  if (has_failed_) return fail(ErrorCode::unavailable, prefix_ + ": an earlier sync failed");
  const std::uint64_t from = records.front().header().offset;
  OUTHAUL_ASSERT(segments_.empty() || (from == end_.offset && !end_.complete));
  const bool is_full = !segments_.empty() && segments_.back()->bytes >= segment_bytes_;
  if (segments_.empty() || is_full) OUTHAUL_CHECK(begin_segment(from));
  Segment& segment = *segments_.back();
  OUTHAUL_TRY(file, file_of(segment));
  std::vector<ByteView> parts;
  parts.reserve(records.size());
  for (const auto& record : records) parts.push_back(record.bytes().view());
  OUTHAUL_CHECK(file->append(parts));
  for (const auto& record : records) note_appended(segment, record);
  return {};
}

void SegmentLog::note_appended(Segment& segment, const EncodedRecord& record) {
  const std::size_t size = record.bytes().size();
  segment.note(record.header().offset, segment.bytes);
  segment.bytes += size;
  bytes_ += size;
  unsynced_bytes_ += size;
  last_record_ = record.header().offset;
  end_ = {record.end_offset(), completes_stream(record.header().kind)};
}

Task<Result<void>> SegmentLog::sync() {
  if (has_failed_) co_return fail(ErrorCode::unavailable, prefix_ + ": an earlier sync failed");
  std::vector<SegmentPtr> unsynced;
  for (const auto& segment : segments_) {
    if (!segment->is_synced()) unsynced.push_back(segment);
  }
  const StreamPosition covered = end_;
  const std::uint64_t covered_bytes = unsynced_bytes_;
  auto synced = co_await sync_files(std::move(unsynced));
  if (!synced) {
    has_failed_ = true;
    co_return fail(std::move(synced).error());
  }
  synced_ = std::max(synced_, covered);
  unsynced_bytes_ -= std::min(unsynced_bytes_, covered_bytes);
  co_return Result<void>();
}

Task<Result<void>> SegmentLog::sync_files(std::vector<SegmentPtr> segments) {
  bool has_new_name = false;
  for (const auto& segment : segments) {
    OUTHAUL_CO_TRY(opened, file_of(*segment));
    const std::shared_ptr<File> file = opened;  // a reader's drop may close it meanwhile
    const std::uint64_t bytes = segment->bytes;
    OUTHAUL_CO_CHECK(co_await file->sync());
    segment->synced_bytes = std::max(segment->synced_bytes, bytes);
    file->drop_cache(segment->synced_bytes);
    has_new_name = has_new_name || !segment->has_durable_name;
  }
  if (has_new_name) OUTHAUL_CO_CHECK(co_await disk_.sync_directory());
  for (const auto& segment : segments) {
    segment->has_durable_name = true;
    const bool is_finished = end_.complete || segments_.empty() || segment != segments_.back();
    if (is_finished && segment->is_synced()) segment->file = nullptr;
  }
  co_return Result<void>();
}

// The place in the file of the record that holds `offset`.
Result<std::uint64_t> SegmentLog::locate(Segment& segment, std::uint64_t offset) {
  IndexEntry at = segment.floor(offset);
  OUTHAUL_TRY(file, file_of(segment));
  while (at.offset < offset && at.place < segment.bytes) {
    OUTHAUL_TRY(block, file->read_at(at.place, walk_block_bytes));
    std::size_t in_block = 0;
    for (;;) {
      const auto record = parse_record(ByteView(block).substr(in_block));
      if (!record) break;
      if (record->end_offset() > offset) return at.place;
      segment.note(record->header.offset, at.place);
      in_block += record->size();
      at = {record->end_offset(), at.place + record->size()};
      if (at.offset == offset) return at.place;
    }
    if (in_block == 0) return damaged(segment.name, at.place);
  }
  return at.place;
}

// Adds the records of one file to the chunk; gives whether the reader should go on in the next file.
Result<bool> SegmentLog::read_some(Segment& segment, const Wanted& wanted, ReadChunk& chunk) {
  OUTHAUL_TRY(place, locate(segment, wanted.from));
  if (place >= segment.bytes) return true;
  OUTHAUL_TRY(file, file_of(segment));
  // The first record comes also when it is larger than the reader's limit.
  const std::size_t count = std::max(wanted.max_bytes, chunk.bytes == 0 ? max_record_bytes : 0);
  OUTHAUL_TRY(read, file->read_at(place, std::min<std::uint64_t>(count, segment.bytes - place)));
  const SharedSlice block = SharedSlice::take(std::move(read));
  const std::size_t taken = take_records(block, wanted, chunk);
  // A bad record later in the block is most likely cut by the block's end: the next read begins with it.
  if (taken == 0 && chunk.bytes == 0 && !parse_record(block.view())) return damaged(segment.name, place);
  const bool is_read_out = place + taken >= segment.bytes;
  if (!chunk.next.complete) segment.last_read = {chunk.next.offset, place + taken};
  if (is_read_out && &segment != segments_.back().get() && segment.is_synced()) segment.file = nullptr;
  return is_read_out;
}

Result<ReadChunk> SegmentLog::read(std::uint64_t from, std::size_t max_bytes, bool with_completing) {
  ReadChunk chunk;
  chunk.next = {from, false};
  const auto after = std::ranges::upper_bound(segments_, from, {}, &Segment::start);
  auto at = after == segments_.begin() ? after : std::prev(after);
  for (; at != segments_.end() && (chunk.bytes == 0 || chunk.bytes < max_bytes); ++at) {
    const Wanted rest{.from = chunk.next.offset,
                      .max_bytes = max_bytes - std::min(max_bytes, chunk.bytes),
                      .with_completing = with_completing};
    OUTHAUL_TRY(goes_on, read_some(**at, rest, chunk));
    if (!goes_on) break;
  }
  return chunk;
}

std::vector<std::string> SegmentLog::drop(std::uint64_t up_to) {
  std::vector<std::string> names;
  while (segments_.size() > 1 && segments_[1]->start <= up_to) {
    const auto& first = segments_.front();
    bytes_ -= first->bytes;
    unsynced_bytes_ -= std::min(unsynced_bytes_, first->bytes - first->synced_bytes);
    names.push_back(first->name);
    segments_.erase(segments_.begin());
  }
  return names;
}

std::vector<std::string> SegmentLog::file_names() const {
  std::vector<std::string> names;
  names.reserve(segments_.size());
  for (const auto& segment : segments_) names.push_back(segment->name);
  return names;
}

std::string SegmentLog::name_at(std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(segments_, offset, {}, &Segment::start);
  return after == segments_.begin() ? fmt::format("{}{:016x}", prefix_, offset) : (*std::prev(after))->name;
}

}  // namespace outhaul::stream
