#include "stream/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/assert.h"

namespace outhaul::stream {
namespace {

constexpr std::string_view name_prefix = "journal-";
// Some hundreds of records: so often a sync costs more than the write itself.
constexpr std::uint64_t room_ahead_bytes = 256U << 10U;
// What a first start writes before anything can have been acknowledged.
constexpr std::uint64_t empty_journal_bytes = journal_header_bytes + journal_frame_bytes;

std::string file_name(std::uint64_t generation) { return fmt::format("{}{:010}", name_prefix, generation); }

std::optional<std::uint64_t> find_generation(std::string_view name) {
  if (!name.starts_with(name_prefix)) return std::nullopt;
  name.remove_prefix(name_prefix.size());
  std::uint64_t generation = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), generation);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return generation;
}

struct LoadedFile {
  std::string name;
  std::uint64_t generation = 0;
  std::unique_ptr<File> file;
  Bytes bytes;
  JournalContents contents;  // points into bytes
};

Result<std::unique_ptr<LoadedFile>> load_file(Disk& disk, const FileEntry& entry) {
  auto loaded = std::make_unique<LoadedFile>();
  loaded->name = entry.name;
  loaded->generation = find_generation(entry.name).value_or(0);
  OUTHAUL_TRY(file, disk.open(entry.name, OpenMode::existing));
  loaded->file = std::move(file);
  OUTHAUL_TRY(bytes, loaded->file->read_at(0, loaded->file->size()));
  loaded->bytes = std::move(bytes);
  auto contents = parse_journal(loaded->bytes, loaded->generation);
  if (!contents) return fail(std::move(contents).error().during(entry.name).with("file", entry.name));
  loaded->contents = std::move(*contents);
  return loaded;
}

std::unexpected<Error> missing(const std::string& file, const char* what) {
  return fail(Error(ErrorCode::journal_corrupt, file + ": " + what).with("file", file));
}

// The newest file whose checkpoint is whole; null when none was ever used. A newer one that is not
// whole was being written when the process ended: everything durable is in the one before it, which goes
// only after it.
Result<std::unique_ptr<LoadedFile>> load_newest(Disk& disk, bool must_exist, JournalRecovery& recovery) {
  OUTHAUL_TRY(entries, disk.list());
  // The journal is the first file that a directory gets.
  const auto others =
      std::erase_if(entries, [](const FileEntry& entry) { return !find_generation(entry.name); });
  const bool was_in_use = must_exist || others > 0;
  if (was_in_use && entries.empty())
    return missing(file_name(1), "the journal is missing from a directory that was in use");
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    OUTHAUL_TRY(loaded, load_file(disk, *entry));
    if (loaded->contents.checkpoint_is_whole) return std::move(loaded);
    const bool is_last = std::next(entry) == entries.rend();
    if (is_last && was_in_use && entry->size <= empty_journal_bytes)
      return missing(entry->name, "the journal is empty in a directory that was in use");
    if (is_last && entry->size > empty_journal_bytes) {
      const std::string what = entry->name + ": its checkpoint is not whole and no earlier file is there";
      return fail(Error(ErrorCode::journal_corrupt, what).with("file", entry->name).with("offset", "0"));
    }
    recovery = {
        .records = 0, .file = entry->name, .cut_offset = 0, .cut_bytes = entry->size, .reason = "unfinished"};
    OUTHAUL_CHECK(disk.remove(entry->name));
  }
  return nullptr;
}

}  // namespace

struct Journal::CurrentFile {
  std::unique_ptr<File> file;
  std::uint64_t generation = 0;
  std::uint64_t synced = 0;         // bytes of it known to be durable
  std::uint64_t checkpoint_at = 0;  // size at which it is rewritten
  bool is_established = false;      // its name is durable and it is the only one
};

Journal::Journal(Disk& disk, std::vector<JournalOwner*> owners, JournalConfig config)
    : disk_(disk), owners_(std::move(owners)), config_(config) {}

Journal::~Journal() = default;

std::uint64_t Journal::file_bytes() const { return current_->file->size(); }

Task<Result<std::unique_ptr<Journal>>> Journal::open(Disk& disk, std::vector<JournalOwner*> owners,
                                                     JournalConfig config) {
  std::unique_ptr<Journal> journal(new Journal(disk, std::move(owners), config));
  OUTHAUL_CO_CHECK(co_await journal->recover());
  co_return std::move(journal);
}

Task<Result<void>> Journal::recover() {
  OUTHAUL_CO_TRY(loaded, load_newest(disk_, config_.must_exist, recovery_));
  if (loaded == nullptr) co_return co_await make_first();
  const auto& contents = loaded->contents;
  recovery_ = {.records = contents.frames.size(),
               .file = loaded->name,
               .cut_offset = {},
               .cut_bytes = 0,
               .reason = {}};
  if (!contents.cut_reason.empty()) {
    recovery_.cut_offset = contents.whole_bytes;
    recovery_.cut_bytes = loaded->bytes.size() - contents.whole_bytes;
    recovery_.reason = contents.cut_reason;
  }
  if (contents.whole_bytes < loaded->bytes.size()) {
    OUTHAUL_CO_CHECK(loaded->file->truncate(contents.whole_bytes));
  }
  OUTHAUL_CO_CHECK(replay(contents.frames));
  const std::uint64_t live = contents.whole_bytes;
  current_ = std::make_shared<CurrentFile>(std::move(loaded->file), loaded->generation, 0, 0, false);
  current_->checkpoint_at = std::max(config_.min_checkpoint_bytes, live);
  // What was read counts from now on, also if it was never synced before.
  co_return co_await sync_current();
}

Task<Result<void>> Journal::make_first() {
  OUTHAUL_CO_TRY(created, create_file(1));
  current_ = created;
  OUTHAUL_CO_CHECK(append(checkpoint_mark_type, ByteView()));
  co_return co_await sync_current();
}

Result<void> Journal::replay(const std::vector<JournalFrame>& frames) {
  for (const auto& frame : frames) {
    const auto owner =
        std::ranges::find_if(owners_, [&](JournalOwner* one) { return one->owns(frame.type); });
    if (owner == owners_.end()) {
      return fail(Error(ErrorCode::journal_corrupt,
                        fmt::format("{}: record of unknown type {}", recovery_.file, frame.type))
                      .with("file", recovery_.file));
    }
    OUTHAUL_CHECK((*owner)->replay(frame.type, frame.payload));
  }
  return {};
}

Result<std::shared_ptr<Journal::CurrentFile>> Journal::create_file(std::uint64_t generation) {
  OUTHAUL_TRY(file, disk_.open(file_name(generation), OpenMode::create));
  const Bytes header = journal_header(generation);
  const ByteView part = header;
  if (auto written = file->append({&part, 1}); !written) {
    (void)disk_.remove(file_name(generation));
    return fail(std::move(written).error());
  }
  return std::make_shared<CurrentFile>(std::move(file), generation, 0, config_.min_checkpoint_bytes, false);
}

Result<JournalPosition> Journal::append(JournalType type, std::span<const ByteView> parts) {
  constexpr std::size_t max_parts = 8;
  OUTHAUL_ASSERT(parts.size() <= max_parts);
  if (is_poisoned_) return fail(ErrorCode::unavailable, "journal: an earlier sync failed");
  const FramePlace place{
      .generation = current_->generation, .offset = current_->file->size(), .synced = current_->synced};
  const FrameHeader header = make_frame_header(place, type, parts);
  ByteView all[1 + max_parts] = {header.view()};
  std::ranges::copy(parts, all + 1);
  OUTHAUL_CHECK(current_->file->append({all, 1 + parts.size()}));
  appended_ += current_->file->size() - place.offset;
  return appended_;
}

Task<Result<void>> Journal::durable(JournalPosition position) {
  OUTHAUL_ASSERT(position <= appended_);
  while (durable_ < position) {
    OUTHAUL_CO_CHECK(co_await sync_current());
    // Here no owner is between an append and its change of memory. When it fails, the old file goes on.
    if (current_->file->size() >= current_->checkpoint_at) (void)checkpoint();
  }
  co_return Result<void>();
}

Task<Result<void>> Journal::sync_current() {
  if (is_poisoned_) co_return fail(ErrorCode::unavailable, "journal: an earlier sync failed");
  const auto current = current_;
  const JournalPosition covered = appended_;
  const std::uint64_t size = current->file->size();
  auto synced = co_await current->file->sync();
  if (synced && !current->is_established) synced = co_await disk_.sync_directory();
  if (!synced) {
    is_poisoned_ = true;
    co_return fail(std::move(synced).error().during("journal"));
  }
  current->synced = std::max(current->synced, size);
  durable_ = std::max(durable_, covered);
  if (!std::exchange(current->is_established, true)) {
    remove_files_before(current->generation);
    // Not before: a first file that a crash leaves with nothing but zeros would look damaged.
    current->file->keep_room_ahead(room_ahead_bytes);
  }
  co_return Result<void>();
}

void Journal::remove_files_before(std::uint64_t generation) {
  const auto entries = disk_.list();
  if (!entries) return;  // they count for nothing; the next start removes them
  for (const auto& entry : *entries) {
    const auto other = find_generation(entry.name);
    if (other && *other < generation) (void)disk_.remove(entry.name);
  }
}

Result<void> Journal::fill_checkpoint() {
  for (auto* owner : owners_) OUTHAUL_CHECK(owner->write_live(*this));
  OUTHAUL_CHECK(append(checkpoint_mark_type, ByteView()));
  return {};
}

Result<void> Journal::checkpoint() {
  if (is_poisoned_) return fail(ErrorCode::unavailable, "journal: an earlier sync failed");
  const auto before = current_;
  // If this fails, not before the file has grown again: a full disk must not be asked at each sync.
  before->checkpoint_at = before->file->size() + config_.min_checkpoint_bytes;
  OUTHAUL_TRY(next, create_file(before->generation + 1));
  current_ = next;
  if (auto filled = fill_checkpoint(); !filled) {
    current_ = before;
    (void)disk_.remove(file_name(next->generation));
    return fail(std::move(filled).error().during("journal checkpoint"));
  }
  current_->checkpoint_at = std::max(config_.min_checkpoint_bytes, 2 * current_->file->size());
  return {};
}

}  // namespace outhaul::stream
