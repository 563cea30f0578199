#include "audit/log_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <ranges>
#include <sstream>

#include "outhaul/v1/audit.pb.h"
#include "stream/journal_frame.h"

namespace outhaul::audit {
namespace {

constexpr std::string_view journal_prefix = "journal-";

std::optional<std::uint64_t> find_generation(std::string_view name) {
  if (!name.starts_with(journal_prefix)) return std::nullopt;
  name.remove_prefix(journal_prefix.size());
  std::uint64_t generation = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), generation);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return std::nullopt;
  return generation;
}

Result<void> take_frame(const stream::JournalFrame& frame, JournalView& view, WitnessBook& book) {
  if (frame.type == audit_record_type) view.records.emplace_back(frame.payload);
  if (frame.type == audit_witness_type) OUTHAUL_CHECK(book.replay(frame.type, frame.payload));
  if (frame.type == audit_mark_type) {
    view.mark = parse_journal_mark(frame.payload);
    if (!view.mark) return fail(ErrorCode::journal_corrupt, "audit: a mark in the journal");
  }
  return {};
}

// Empty when the record does not say.
std::string log_named_by(const ChainRecord& record) {
  v1::AuditStart start;
  const bool is_start = record.kind == ChainKind::start &&
                        start.ParseFromArray(record.payload.data(), static_cast<int>(record.payload.size()));
  if (is_start) return start.log();
  if (record.kind != ChainKind::checkpoint) return {};
  const auto head = assume_head(record.payload);
  return head ? head->log : std::string();
}

// The first record says it, or, when that is no longer kept, the first checkpoint.
std::string log_of(ByteView records) {
  while (!records.empty()) {
    const auto record = parse_record(records);
    if (!record) break;
    if (auto log = log_named_by(*record); !log.empty()) return log;
    records.remove_prefix(record->size());
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> DirectoryFiles::list() {
  std::error_code fault;
  std::vector<std::string> names;
  for (auto at = std::filesystem::directory_iterator(directory_, fault);
       !fault && at != std::filesystem::directory_iterator(); at.increment(fault)) {
    names.push_back(at->path().filename().string());
  }
  if (fault) {
    const bool is_missing = fault == std::errc::no_such_file_or_directory;
    return fail(is_missing ? ErrorCode::not_found : ErrorCode::unavailable,
                directory_.string() + ": " + fault.message());
  }
  std::ranges::sort(names);
  return names;
}

Result<Bytes> DirectoryFiles::read(const std::string& name) {
  std::ifstream file(directory_ / name, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (!file) return fail(ErrorCode::unavailable, (directory_ / name).string() + ": cannot be read");
  return std::move(bytes).str();
}

Result<std::vector<std::string>> DiskFiles::list() {
  OUTHAUL_TRY(entries, disk_.list());
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (auto& entry : entries) names.push_back(std::move(entry.name));
  return names;
}

Result<Bytes> DiskFiles::read(const std::string& name) {
  OUTHAUL_TRY(file, disk_.open(name, stream::OpenMode::existing));
  return file->read_at(0, file->size());
}

Result<JournalView> read_journal_view(LogFiles& files) {
  OUTHAUL_TRY(names, files.list());
  std::erase_if(names, [](const auto& name) { return !find_generation(name); });
  JournalView view;
  for (const auto& name : std::ranges::reverse_view(names)) {
    OUTHAUL_TRY(bytes, files.read(name));
    auto contents = stream::parse_journal(bytes, *find_generation(name));
    if (!contents) return fail(std::move(contents).error().during(name));
    if (!contents->checkpoint_is_whole) continue;
    WitnessBook book;
    for (const auto& frame : contents->frames) OUTHAUL_CHECK(take_frame(frame, view, book));
    view.witnesses = book.all();
    break;
  }
  return view;
}

Result<LogReport> check_log(LogFiles& files, const JournalView& journal, ChainVerifier::Config config) {
  OUTHAUL_TRY(names, files.list());
  ChainVerifier verifier(std::move(config));
  for (const auto& name : names) {
    if (!is_log_file_name(name)) continue;
    OUTHAUL_TRY(bytes, files.read(name));
    verifier.read_file(name, bytes);
  }
  if (journal.mark) verifier.expect(journal.mark->tip);
  for (const auto& record : journal.records) verifier.read_journaled(record);
  verifier.finish();
  return verifier.report();
}

std::vector<Witnessed> heads_of(const std::string& log, const std::vector<HeldHeads>& held) {
  std::vector<Witnessed> heads;
  for (const auto& [holder, witnesses] : held) {
    for (const auto& witness : witnesses) {
      if (witness.head.log == log) heads.push_back({holder, witness.head, witness.evidence});
    }
  }
  return heads;
}

std::string find_log_name(LogFiles& files, const JournalView& journal) {
  const auto names = files.list();
  if (!names) return {};
  const auto first = std::ranges::find_if(*names, is_log_file_name);
  if (first != names->end()) {
    const auto bytes = files.read(*first);
    if (bytes && bytes->size() > log_file_header_bytes)
      return log_of(ByteView(*bytes).substr(log_file_header_bytes));
  }
  return journal.records.empty() ? std::string() : log_of(journal.records.front());
}

}  // namespace outhaul::audit
