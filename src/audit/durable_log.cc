#include "audit/durable_log.h"

#include <algorithm>
#include <ranges>

#include "base/planted_fault.h"
#include "outhaul/v1/audit.pb.h"

namespace outhaul::audit {
namespace {

using stream::JournalPosition;
using stream::JournalType;

constexpr std::uint32_t log_format = 1;

std::unexpected<Error> corrupt(const std::string& what) {
  return fail(ErrorCode::journal_corrupt, "audit log: " + what);
}

}  // namespace

DurableLog::DurableLog(const Ports& ports, Config config)
    : ports_(ports),
      config_(std::move(config)),
      settled_(ports.executor),
      dirty_(ports.executor),
      failed_(ports.executor),
      group_(ports.executor) {}

DurableLog::~DurableLog() = default;

bool DurableLog::owns(JournalType type) const { return type == audit_record_type || type == audit_mark_type; }

Result<void> DurableLog::replay(JournalType type, ByteView payload) {
  if (type == audit_record_type) {
    replayed_.emplace_back(payload);
    return {};
  }
  mark_ = parse_journal_mark(payload);
  if (!mark_) return corrupt("a mark in the journal");
  // What a file holds durably is not needed from here.
  std::erase_if(replayed_, [&](const Bytes& bytes) {
    const auto record = parse_record(bytes);
    return record && record->sequence <= mark_->tip.sequence;
  });
  return {};
}

Result<void> DurableLog::write_live(stream::Journal& journal) {
  if (mark_) OUTHAUL_CHECK(journal.append(audit_mark_type, serialise_journal_mark(*mark_)));
  for (const auto& held : held_) OUTHAUL_CHECK(journal.append(audit_record_type, held.record));
  return {};
}

Task<Result<void>> DurableLog::open(stream::Journal& journal) {
  OUTHAUL_CO_TRY(cut, read_files());
  journal_ = &journal;
  OUTHAUL_CO_CHECK(take_replayed());
  if (tip_.sequence == 0) OUTHAUL_CO_CHECK(begin_log());
  OUTHAUL_CO_CHECK(spare_full_disk(report(cut)));
  OUTHAUL_CO_CHECK(report_changes());
  // What was read and is not held must not be lost by the next crash.
  if (file_) OUTHAUL_CO_CHECK(co_await file_->sync());
  OUTHAUL_CO_CHECK(co_await ports_.disk.sync_directory());
  mark_ = make_mark(filed_tip_);
  OUTHAUL_CO_CHECK(spare_full_disk(append_mark()));
  for (auto& entry : std::exchange(early_, {})) OUTHAUL_CO_CHECK(spare_full_disk(append(std::move(entry))));
  group_.spawn([this] { return keep(); });
  co_return Result<void>();
}

// A full disk is no reason for a process to stay down: what it cannot say is left out.
Result<void> DurableLog::spare_full_disk(Result<void> written) const {
  if (written || written.error().code() != ErrorCode::disk_full) return written;
  ports_.log.failure("an audit entry is not written", written.error());
  return {};
}

JournalMark DurableLog::make_mark(ChainTip tip) const {
  return {std::move(tip), config_.epoch, config_.signer.key->public_key()};
}

// What differs from the life before, under a signature at once.
Result<void> DurableLog::report_changes() {
  if (!mark_) return {};
  if (mark_->public_key != config_.signer.key->public_key()) {
    AuditEntry entry(AuditAction::log_key_changed, "", config_.log);
    OUTHAUL_CHECK(append(std::move(entry).with("public_key", to_base64(config_.signer.key->public_key()))));
    OUTHAUL_CHECK(append_checkpoint());
  }
  if (mark_->epoch < config_.epoch) {
    AuditEntry entry(AuditAction::log_restored, "", config_.log);
    entry = std::move(entry).with("epoch", std::to_string(config_.epoch));
    OUTHAUL_CHECK(append(std::move(entry).with("kept_until", std::to_string(tip_.sequence))));
    OUTHAUL_CHECK(append_checkpoint());
  }
  return {};
}

// Oldest first.
Result<std::vector<stream::FileEntry>> DurableLog::list_files() const {
  OUTHAUL_TRY(files, ports_.disk.list());
  std::erase_if(files, [](const auto& file) { return !is_log_file_name(file.name); });
  return std::move(files);
}

// The last file decides where the log stands; the verifier reads the others.
Result<std::optional<DurableLog::Cut>> DurableLog::read_files() {
  OUTHAUL_TRY(files, list_files());
  while (!files.empty() && is_unmarked(files.back())) {
    OUTHAUL_TRY(file, ports_.disk.open(files.back().name, stream::OpenMode::existing));
    OUTHAUL_TRY(front, file->read_at(0, log_file_header_bytes + max_chain_record_bytes));
    const auto header = parse_file_header(front);
    if (header && verify_record(ByteView(front).substr(log_file_header_bytes), header->before)) break;
    // Its beginning is torn, so nothing in it was ever synced: the journal has it all.
    OUTHAUL_CHECK(ports_.disk.remove(files.back().name));
    files.pop_back();
  }
  if (!files.empty()) return read_last_file(files.back());
  if (!mark_ || mark_->tip.sequence == 0) return std::optional<Cut>();
  return judge_end({"", 0, "the log's files are gone", true});
}

bool DurableLog::is_unmarked(const stream::FileEntry& entry) const {
  return !mark_ || entry.name > log_file_name(mark_->tip.sequence);
}

Result<std::optional<DurableLog::Cut>> DurableLog::read_last_file(const stream::FileEntry& entry) {
  OUTHAUL_TRY(opened, ports_.disk.open(entry.name, stream::OpenMode::existing));
  file_ = std::move(opened);
  OUTHAUL_TRY(bytes, file_->read_at(0, file_->size()));
  const auto header = parse_file_header(bytes);
  if (!header) return judge_end({entry.name, 0, "the file's header is not of this format", true});
  incarnation_ = header->incarnation;
  filed_tip_ = header->before;
  ByteView rest = ByteView(bytes).substr(log_file_header_bytes);
  while (!rest.empty()) {
    const auto record = verify_record(rest, filed_tip_);
    if (!record) return judge_end({entry.name, bytes.size() - rest.size(), record.error().what, false});
    filed_tip_ = record->tip();
    look_at(*record);
    rest.remove_prefix(record->size());
  }
  if (mark_ && filed_tip_.sequence < mark_->tip.sequence)
    return judge_end({entry.name, bytes.size(), "records that were durable are missing", true});
  return std::optional<Cut>();
}

// A torn end is cut; what was durable and is bad is left, and the log goes on behind it in another file.
Result<std::optional<DurableLog::Cut>> DurableLog::judge_end(const Cut& end) {
  Cut cut = end;
  cut.is_damage = cut.is_damage || (mark_ && filed_tip_.sequence < mark_->tip.sequence);
  if (!cut.is_damage) {
    OUTHAUL_CHECK(file_->truncate(cut.offset));
    return std::optional(cut);
  }
  file_ = nullptr;
  if (mark_) filed_tip_ = mark_->tip;
  return std::optional(cut);
}

void DurableLog::look_at(const ChainRecord& record) {
  has_unsigned_ = record.kind != ChainKind::checkpoint;
  if (record.kind == ChainKind::checkpoint) signed_head_ = record.payload;
  if (record.kind == ChainKind::start) {
    v1::AuditStart start;
    start.ParseFromArray(record.payload.data(), static_cast<int>(record.payload.size()));
    incarnation_ = start.incarnation();
  }
  if (record.kind != ChainKind::entry || !config_.remembers_recovered) return;
  if (auto entry = parse_entry(record.payload))
    recovered_.emplace(std::move(entry->action), std::move(entry->subject));
}

Result<void> DurableLog::take_replayed() {
  tip_ = floor_ = filed_tip_;
  for (auto& bytes : std::exchange(replayed_, {})) {
    const auto record = parse_record(bytes);
    if (!record) return corrupt(record.error().what);
    if (record->sequence <= tip_.sequence) continue;
    const auto verified = verify_record(bytes, tip_);
    if (!verified) return corrupt(verified.error().what);
    look_at(*verified);
    tip_ = verified->tip();
    // Journal::open made everything durable that it read.
    held_.push_back({std::move(bytes), tip_, 0});
  }
  return {};
}

Result<void> DurableLog::begin_log() {
  incarnation_ = ports_.random.bytes(log_incarnation_bytes);
  v1::AuditStart start;
  start.set_log(config_.log);
  start.set_incarnation(incarnation_);
  start.set_format(log_format);
  start.set_public_key(config_.signer.key->public_key());
  start.set_certificate(config_.certificate);
  return append_record(ChainKind::start, start.SerializeAsString());
}

Result<void> DurableLog::report(const std::optional<Cut>& cut) {
  if (incarnation_.empty()) incarnation_ = ports_.random.bytes(log_incarnation_bytes);
  if (!cut) return {};
  ports_.log.warn(cut->is_damage ? "the audit log is damaged" : "the audit log had a torn end",
                  {{"file", cut->file}, {"offset", cut->offset}, {"reason", cut->reason}});
  AuditEntry entry(cut->is_damage ? AuditAction::log_damaged : AuditAction::log_cut, "", config_.log);
  entry = std::move(entry).with("file", cut->file).with("offset", std::to_string(cut->offset));
  return append(std::move(entry).with("reason", cut->reason));
}

Result<void> DurableLog::append(AuditEntry entry) {
#ifdef OUTHAUL_WITHOUT_AUDIT
  static_cast<void>(entry);
  return {};
#else
  if (has_failed_) return fail(ErrorCode::unavailable, "audit log: an earlier sync failed");
  if (entry.time == WallTime()) entry.time = ports_.clock.wall_now();
  if (journal_ == nullptr) {
    early_.push_back(std::move(entry));
    return {};
  }
  OUTHAUL_CHECK(append_record(ChainKind::entry, serialise_entry(entry)));
  has_unsigned_ = true;
  dirty_.set();
  return {};
#endif
}

Result<void> DurableLog::append_record(ChainKind kind, ByteView payload) {
  ChainTip next = tip_;
  if (OUTHAUL_FAULT("audit_entry_not_chained") && tip_.sequence % 16 == 15)
    next.hash.assign(chain_hash_bytes, 'x');
  Bytes record = audit::append_record(next, kind, payload);
  OUTHAUL_TRY(written, journal_->append(audit_record_type, record));
  tip_ = next;
  held_.push_back({std::move(record), std::move(next), written});
  return {};
}

Result<void> DurableLog::append_checkpoint() {
  const Bytes envelope =
      sign_head({config_.log, incarnation_, tip_, ports_.clock.wall_now()}, config_.signer);
  OUTHAUL_CHECK(append_record(ChainKind::checkpoint, envelope));
  has_unsigned_ = false;
  return {};
}

Result<void> DurableLog::append_mark() {
  OUTHAUL_CHECK(journal_->append(audit_mark_type, serialise_journal_mark(*mark_)));
  return {};
}

Task<Result<void>> DurableLog::durable() {
  if (journal_ == nullptr) co_return fail(ErrorCode::unavailable, "the audit log is not open");
  if (held_.empty()) co_return Result<void>();
  auto durable = co_await journal_->durable(held_.back().written);
  note_failed_sync();
  co_return durable;
}

void DurableLog::note_failed_sync() {
  if (has_failed_ || journal_->is_poisoned()) failed_.set();
}

AuditHead DurableLog::durable_head() const {
  AuditHead head{config_.log, incarnation_, floor_, ports_.clock.wall_now()};
  for (const auto& held : std::ranges::reverse_view(held_)) {
    if (held.written > journal_->durable_position()) continue;
    head.tip = held.tip;
    break;
  }
  return head;
}

Task<void> DurableLog::keep() {
  bool has_failed = false;
  while (true) {
    co_await dirty_.wait();
    dirty_.reset();
    co_await ports_.clock.sleep_for(config_.checkpoint_interval);
    const auto settled = co_await settle();
    if (!settled && !std::exchange(has_failed, true))
      ports_.log.failure("the audit log is not filed", settled.error());
    if (settled) has_failed = false;
    // What failed (a full disk) is tried again with the next entry, or now that time has passed.
    if (!settled && settled.error().error_class() == ErrorClass::retry && !journal_->is_poisoned())
      dirty_.set();
  }
}

// One at a time. Whoever waits goes on also when the one who settles is cancelled.
class DurableLog::Settling {
 public:
  Settling(bool& flag, Event& over) : flag_(flag), over_(over) { flag_ = true; }
  Settling(const Settling&) = delete;
  Settling& operator=(const Settling&) = delete;
  ~Settling() {
    flag_ = false;
    over_.pulse();
  }

 private:
  bool& flag_;
  Event& over_;
};

Task<Result<void>> DurableLog::settle() { return settle(Files::as_due); }

Task<Result<void>> DurableLog::settle(Files files) {
  while (is_settling_) co_await settled_.wait_pulse();
  const Settling settling(is_settling_, settled_);
  auto outcome = co_await settle_once();
  if (outcome && files == Files::synced && file_ && unsynced_bytes_ > 0) outcome = co_await sync_file();
  note_failed_sync();
  co_return outcome;
}

Task<Result<void>> DurableLog::settle_once() {
  if (has_failed_) co_return fail(ErrorCode::unavailable, "audit log: an earlier sync failed");
  if (has_unsigned_) OUTHAUL_CO_CHECK(append_checkpoint());
  if (held_.empty()) co_return Result<void>();
  const bool is_hasty = OUTHAUL_FAULT("audit_head_before_durable");
  if (!is_hasty) OUTHAUL_CO_CHECK(co_await journal_->durable(held_.back().written));
  for (const auto& held : std::ranges::reverse_view(held_)) {
    const auto record = parse_record(held.record);
    const bool is_durable = is_hasty || held.written <= journal_->durable_position();
    if (record->kind != ChainKind::checkpoint || !is_durable) continue;
    signed_head_ = record->payload;
    break;
  }
  OUTHAUL_CO_CHECK(write_out());
  const bool is_full = file_ && file_->size() >= config_.file_bytes;
  if (unsynced_bytes_ >= config_.sync_bytes || is_full) OUTHAUL_CO_CHECK(co_await sync_file());
  if (!is_full) co_return Result<void>();
  file_ = nullptr;
  co_return co_await trim();
}

// Only what is durable in the journal: what a crash takes from there must not stand in a file.
Result<void> DurableLog::write_out() {
  Bytes batch;
  std::size_t count = 0;
  while (filed_ + count < held_.size() && held_[filed_ + count].written <= journal_->durable_position())
    batch += held_[filed_ + count++].record;
  if (count == 0) return {};
  if (!file_) OUTHAUL_CHECK(begin_file());
  const ByteView part = batch;
  OUTHAUL_CHECK(file_->append({&part, 1}));
  filed_ += count;
  filed_tip_ = held_[filed_ - 1].tip;
  unsynced_bytes_ += batch.size();
  return {};
}

Result<void> DurableLog::begin_file() {
  const std::string name = log_file_name(filed_tip_.sequence + 1);
  OUTHAUL_TRY(opened, ports_.disk.open(name, stream::OpenMode::create));
  const Bytes header = serialise_file_header({incarnation_, filed_tip_});
  const ByteView part = header;
  if (auto written = opened->append({&part, 1}); !written) {
    static_cast<void>(ports_.disk.remove(name));
    return written;
  }
  file_ = std::move(opened);
  has_new_name_ = true;
  return {};
}

Task<Result<void>> DurableLog::sync_file() {
  const auto file = file_;
  const std::size_t covered = filed_;
  const std::uint64_t covered_bytes = unsynced_bytes_;
  auto synced = co_await file->sync();
  if (synced && has_new_name_) synced = co_await ports_.disk.sync_directory();
  if (!synced) {
    has_failed_ = true;
    co_return fail(std::move(synced).error().during("audit log"));
  }
  has_new_name_ = false;
  if (covered == 0) co_return Result<void>();
  floor_ = held_[covered - 1].tip;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(covered));
  filed_ -= covered;
  unsynced_bytes_ -= covered_bytes;
  mark_ = make_mark(floor_);
  // Not awaited: without it the journal only says more than it must.
  OUTHAUL_CO_CHECK(append_mark());
  co_return Result<void>();
}

Task<Result<void>> DurableLog::trim() {
  OUTHAUL_CO_TRY(files, list_files());
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += file.size;
  std::size_t gone = 0;
  while (gone + 1 < files.size() && bytes > config_.keep_bytes) bytes -= files[gone++].size;
  if (gone == 0) co_return Result<void>();
  OUTHAUL_CO_TRY(kept, ports_.disk.open(files[gone].name, stream::OpenMode::existing));
  OUTHAUL_CO_TRY(front, kept->read_at(0, log_file_header_bytes));
  const auto header = parse_file_header(front);
  // Damage: nothing goes of what somebody may want to look at.
  if (!header) co_return Result<void>();
  OUTHAUL_CO_CHECK(say_trimmed(header->before));
  OUTHAUL_CO_CHECK(co_await journal_->durable(held_.back().written));
  for (std::size_t i = 0; i < gone; ++i) OUTHAUL_CO_CHECK(ports_.disk.remove(files[i].name));
  co_return Result<void>();
}

// With what the first record of the log said, for that one is gone.
Result<void> DurableLog::say_trimmed(const ChainTip& before) {
  AuditEntry entry(AuditAction::log_trimmed, "", config_.log);
  entry = std::move(entry).with("before", std::to_string(before.sequence)).with("hash", to_hex(before.hash));
  entry = std::move(entry).with("public_key", to_base64(config_.signer.key->public_key()));
  OUTHAUL_CHECK(append(std::move(entry).with("certificate", to_base64(config_.certificate))));
  return append_checkpoint();
}

Task<void> DurableLog::close() {
  group_.cancel();
  co_await group_.join();
  if (journal_ == nullptr) co_return;
  const auto settled = co_await settle(Files::synced);
  if (!settled) ports_.log.failure("the audit log is not filed", settled.error());
}

}  // namespace outhaul::audit
