#include "audit/log_reader.h"

#include <fmt/format.h>

#include <charconv>

namespace outhaul::audit {
namespace {

// How many bytes at the front are whole records; `visit` sees each and says whether to go on.
template <class Visit>
std::size_t walk(ByteView bytes, Visit visit) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto record = parse_record(bytes.substr(at));
    if (!record || !visit(*record)) break;
    at += record->size();
  }
  return at;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string cursor_text(const LogCursor& cursor) {
  return fmt::format("{}-{}", cursor.sequence, cursor.offset);
}

Result<LogCursor> parse_cursor(std::string_view text) {
  const auto dash = text.find('-');
  const auto sequence = parse_number(text.substr(0, dash));
  const auto offset =
      dash == text.npos ? std::optional<std::uint64_t>(0) : parse_number(text.substr(dash + 1));
  if (!sequence || !offset) return fail(ErrorCode::invalid, "cursor: no page gave it");
  return LogCursor{*sequence, *offset};
}

bool EntryFilter::wants(const AuditEntry& entry) const {
  const bool is_group = action.ends_with('.');
  if (!action.empty() && !(is_group ? entry.action.starts_with(action) : entry.action == action))
    return false;
  if (!actor.empty() && entry.actor != actor) return false;
  if (!subject.empty() && entry.subject != subject) return false;
  if (!outcome.empty() && name_of(entry.outcome) != outcome) return false;
  if (since != WallTime() && entry.time < since) return false;
  return until == WallTime() || entry.time <= until;
}

Result<LogFileHeader> LogReader::read_front() {
  OUTHAUL_TRY(entries, disk_.list());
  for (const auto& entry : entries) {
    if (!is_log_file_name(entry.name)) continue;
    OUTHAUL_TRY(file, disk_.open(entry.name, stream::OpenMode::existing));
    OUTHAUL_TRY(front, file->read_at(0, log_file_header_bytes));
    const auto header = parse_file_header(front);
    if (!header) return fail(ErrorCode::journal_corrupt, entry.name + ": not the header of an audit log");
    return *header;
  }
  return fail(ErrorCode::not_found, "there is no audit log yet");
}

// The file and the place in it of the record after `after`, or of the first that is kept; empty when there is
// none.
Result<std::optional<LogReader::OpenPlace>> LogReader::find(const LogCursor& after) {
  OUTHAUL_TRY(entries, disk_.list());
  const auto wanted = log_file_name(after.sequence + 1);
  const stream::FileEntry* holder = nullptr;
  for (const auto& entry : entries) {
    if (is_log_file_name(entry.name) && (entry.name <= wanted || holder == nullptr)) holder = &entry;
  }
  if (holder == nullptr) return std::optional<OpenPlace>();
  OpenPlace place;
  OUTHAUL_TRY(file, disk_.open(holder->name, stream::OpenMode::existing));
  place.file = std::move(file);
  place.offset = after.offset;
  OUTHAUL_TRY(front, place.file->read_at(after.offset, chain_header_bytes + max_chain_record_bytes));
  const auto record = parse_record(front);
  if (after.offset < log_file_header_bytes || !record || record->sequence != after.sequence + 1) {
    OUTHAUL_TRY(offset, locate(*place.file, after.sequence));
    place.offset = offset;
  }
  if (place.offset >= place.file->size()) return std::optional<OpenPlace>();
  return std::optional(std::move(place));
}

Result<std::uint64_t> LogReader::locate(stream::File& file, std::uint64_t after) {
  std::uint64_t offset = log_file_header_bytes;
  while (offset < file.size()) {
    OUTHAUL_TRY(block, file.read_at(offset, block_bytes));
    bool is_found = false;
    const auto walked = walk(block, [&](const ChainRecord& record) {
      is_found = record.sequence > after;
      return !is_found;
    });
    offset += walked;
    if (is_found || walked == 0) return offset;
  }
  return offset;
}

Result<Bytes> LogReader::read_records(LogCursor& at) {
  OUTHAUL_TRY(place, find(at));
  if (!place) return Bytes();
  OUTHAUL_TRY(block, place->file->read_at(place->offset, block_bytes));
  const auto whole = walk(block, [&](const ChainRecord& record) {
    at.sequence = record.sequence;
    return true;
  });
  block.resize(whole);
  at.offset = place->offset + whole;
  return std::move(block);
}

Result<EntryPage> LogReader::read_page(LogCursor from, const EntryFilter& filter, std::size_t limit) {
  EntryPage page;
  page.next = from;
  std::uint64_t looked_at = 0;
  while (page.entries.size() < limit && looked_at < page_bytes) {
    auto block_at = page.next;
    OUTHAUL_TRY(block, read_records(block_at));
    if (block.empty()) return page;
    const auto start = block_at.offset - block.size();
    const auto walked = walk(block, [&](const ChainRecord& record) {
      if (page.entries.size() == limit) return false;
      page.next.sequence = record.sequence;
      if (record.kind != ChainKind::entry) return true;
      auto entry = parse_entry(record.payload);
      if (entry && filter.wants(*entry)) page.entries.push_back({*std::move(entry), record.sequence});
      return true;
    });
    page.next.offset = start + walked;
    looked_at += walked;
  }
  page.has_more = true;
  return page;
}

}  // namespace outhaul::audit
