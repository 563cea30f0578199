#include "audit/verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/audit_entry.h"
#include "audit/receipt.h"
#include "outhaul/v1/audit.pb.h"
#include "wire/task_spec.h"

namespace outhaul::audit {
namespace {

const std::string in_journal = "journal";

std::string difference(const Witnessed& witnessed) {
  return fmt::format("{} holds a signed head of record {} with another hash", witnessed.holder,
                     witnessed.head.tip.sequence);
}

}  // namespace

ChainVerifier::ChainVerifier(Config config) : config_(std::move(config)) {
  report_.log = config_.log;
  takes_named_keys_ = config_.keys.empty();
  for (auto& witnessed : config_.witnessed) {
    const auto sequence = witnessed.head.tip.sequence;
    expected_.emplace(sequence, std::move(witnessed));
  }
}

void ChainVerifier::fault(const Place& place, std::string what) {
  report_.findings.push_back({place.file, place.offset, report_.tip.sequence + 1, std::move(what)});
  is_broken_ = true;
}

void ChainVerifier::begin_after(const LogFileHeader& front, const std::string& place) {
  const auto& before = front.before;
  report_.incarnation = front.incarnation;
  if (before.sequence == 0) return;
  report_.tip = before;
  missing_until_ = before;
  first_place_ = place;
  for (auto at = expected_.begin(); at != expected_.lower_bound(before.sequence); at = expected_.erase(at)) {
    report_.notices.push_back(
        {"", 0, at->first, at->second.holder + " holds a head of a record that is no longer kept"});
  }
}

void ChainVerifier::read_file(const std::string& name, ByteView bytes) {
  if (is_broken_) return;
  ++report_.files;
  last_file_ = name;
  last_file_bytes_ = bytes.size();
  const auto header = parse_file_header(bytes);
  const Place front{name, 0};
  if (!header) return fault(front, "the file's header is not whole or not of this format");
  if (name != log_file_name(header->before.sequence + 1)) return fault(front, "the file has another's name");
  if (report_.files == 1) begin_after(*header, name);
  if (header->before.sequence != report_.tip.sequence) {
    return fault(front, fmt::format("records {} to {} are missing before this file", report_.tip.sequence + 1,
                                    header->before.sequence));
  }
  if (header->before != report_.tip) return fault(front, "the file does not follow the one before it");
  if (header->incarnation != report_.incarnation) return fault(front, "the file belongs to another log");
  const auto records = bytes.substr(log_file_header_bytes);
  const auto read = read_records(name, log_file_header_bytes, records);
  if (!is_broken_ && read < records.size()) {
    fault({name, log_file_header_bytes + read}, parse_record(records.substr(read)).error().what);
  }
}

std::size_t ChainVerifier::read_records(const std::string& name, std::uint64_t offset, ByteView bytes) {
  std::size_t read = 0;
  while (!is_broken_ && read < bytes.size()) {
    const auto record = verify_record(bytes.substr(read), report_.tip);
    const Place place{name, offset + read};
    if (!record && record.error().is_short) break;
    if (!record) {
      fault(place, record.error().what);
      break;
    }
    take(*record, place);
    read += record->size();
  }
  return read;
}

void ChainVerifier::read_journaled(ByteView bytes) {
  if (is_broken_) return;
  const Place place{in_journal, 0};
  const auto record = parse_record(bytes);
  if (!record) return fault(place, record.error().what);
  if (record->sequence <= report_.tip.sequence) return;
  const auto verified = verify_record(bytes, report_.tip);
  if (!verified) return fault(place, verified.error().what);
  take(*verified, place);
}

void ChainVerifier::take(const ChainRecord& record, const Place& place) {
  if ((record.sequence == 1) != (record.kind == ChainKind::start))
    return fault(place, "a log starts with its start record, and only once");
  switch (record.kind) {
    case ChainKind::start: take_start(record.payload, place); break;
    case ChainKind::entry: take_entry(record.payload, place); break;
    case ChainKind::checkpoint: take_checkpoint(record.payload, place); break;
  }
  if (is_broken_) return;
  report_.tip = record.tip();
  ++report_.unsigned_records;
  if (record.kind == ChainKind::checkpoint) report_.unsigned_records = 0;
  check_witnesses();
}

void ChainVerifier::take_start(ByteView payload, const Place& place) {
  v1::AuditStart start;
  if (!start.ParseFromArray(payload.data(), static_cast<int>(payload.size())) || start.log().empty())
    return fault(place, "the start record is not readable");
  if (!config_.log.empty() && start.log() != config_.log)
    return fault(place, "the log is another's: " + start.log());
  if (report_.incarnation.empty()) report_.incarnation = start.incarnation();
  // The record's own hash holds, so it is the header that was changed.
  if (start.incarnation() != report_.incarnation)
    return fault({place.file, 0}, "the file's header names another log than its start record");
  report_.log = start.log();
  report_.certificate = start.certificate();
  take_key(start.public_key());
}

void ChainVerifier::take_key(ByteView public_key) {
  auto key = crypto::VerifyKey::parse(public_key);
  if (!key) return;
  report_.public_key = public_key;
  if (takes_named_keys_) config_.keys.push_back({key_id_of(public_key), *std::move(key)});
}

void ChainVerifier::take_entry(ByteView payload, const Place& place) {
  const auto entry = parse_entry(payload);
  if (!entry) return fault(place, entry.error().what());
  ++report_.entries;
  const auto action = find_action(entry->action);
  if (action == AuditAction::log_restored) restores_.push_back({report_.tip.sequence + 1, entry->time});
  if (action == AuditAction::log_key_changed && !entry->fields.empty())
    take_key(parse_base64(entry->fields.front().value).value_or(Bytes()));
  if (action == AuditAction::log_trimmed) take_trim(*entry);
  const bool is_notice = action == AuditAction::log_key_changed || action == AuditAction::log_restored ||
                         action == AuditAction::log_trimmed || action == AuditAction::log_damaged ||
                         action == AuditAction::log_cut || action == AuditAction::witness_regressed;
  if (!is_notice) return;
  std::string what = entry->action;
  for (const auto& field : entry->fields) what += " " + field.name + "=" + field.value;
  report_.notices.push_back({place.file, place.offset, report_.tip.sequence + 1, std::move(what)});
}

// Says which record stands before the first that is kept, and what the start record would have said.
void ChainVerifier::take_trim(const AuditEntry& entry) {
  const auto value = [&entry](std::string_view name) {
    const auto found = std::ranges::find(entry.fields, name, &AuditField::name);
    return found == entry.fields.end() ? std::string() : found->value;
  };
  if (!missing_until_ || value("before") != std::to_string(missing_until_->sequence) ||
      value("hash") != to_hex(missing_until_->hash)) {
    return;
  }
  missing_until_.reset();
  report_.certificate = parse_base64(value("certificate")).value_or(Bytes());
  take_key(parse_base64(value("public_key")).value_or(Bytes()));
}

void ChainVerifier::take_checkpoint(ByteView payload, const Place& place) {
  const auto head = assume_head(payload);
  if (!head) return fault(place, head.error().what());
  if (report_.log.empty()) report_.log = head->log;
  if (head->log != report_.log || head->incarnation != report_.incarnation)
    return fault(place, "the checkpoint is one of another log");
  if (head->tip != report_.tip) return fault(place, "the checkpoint does not name the record before it");
  ++report_.checkpoints;
  last_checkpoint_ = payload;
  last_checkpoint_place_ = {place.file, place.offset, report_.tip.sequence + 1, {}};
}

void ChainVerifier::check_beginning() {
  if (is_broken_ || !missing_until_) return;
  report_.findings.insert(
      report_.findings.begin(),
      {first_place_, 0, 1,
       fmt::format("records 1 to {} are missing before this file", missing_until_->sequence)});
}

// One is enough: its hash covers every record before it, the earlier checkpoints too.
void ChainVerifier::check_last_signature() {
  if (last_checkpoint_.empty() || open_head(last_checkpoint_, config_.keys)) return;
  auto finding = last_checkpoint_place_;
  finding.what = "no trusted key signed the last checkpoint";
  report_.findings.push_back(std::move(finding));
}

void ChainVerifier::check_witnesses() {
  const auto [first, last] = expected_.equal_range(report_.tip.sequence);
  for (auto at = first; at != last; ++at) {
    auto& witnessed = at->second;
    const bool is_same =
        witnessed.head.incarnation == report_.incarnation && witnessed.head.tip == report_.tip;
    if (is_same) {
      report_.witnessed_until = report_.tip.sequence;
    } else {
      missed_.push_back(std::move(witnessed));
    }
  }
  expected_.erase(first, last);
}

// A head is void only when the log itself says, under a later signature, that it was restored after it.
bool ChainVerifier::is_declared_lost(const Witnessed& witnessed) const {
  return witnessed.head.incarnation == report_.incarnation &&
         std::ranges::any_of(restores_, [&](const Restore& restore) {
           return restore.sequence <= witnessed.head.tip.sequence && witnessed.head.time <= restore.time;
         });
}

void ChainVerifier::expect(const ChainTip& marked) {
  if (is_broken_ || marked.sequence <= report_.tip.sequence) return;
  fault({last_file_, last_file_bytes_},
        fmt::format("the files end at record {}, and the process had filed record {}", report_.tip.sequence,
                    marked.sequence));
}

// What somebody holds of this log proves nothing without a signature of the log's owner.
bool ChainVerifier::is_proven(const Witnessed& witnessed) const {
  if (witnessed.evidence.empty()) return true;
  if (open_head(witnessed.evidence, config_.keys)) return true;
  const auto receipt = open_receipt(witnessed.evidence);
  if (!receipt || report_.public_key.empty()) return false;
  const auto certificate = crypto::Certificate::parse_der(receipt->certificate);
  return certificate && certificate->ed25519_key() == report_.public_key;
}

void ChainVerifier::check_unreached() {
  for (auto& [sequence, witnessed] : expected_) missed_.push_back(std::move(witnessed));
  expected_.clear();
  for (const auto& witnessed : missed_) {
    const auto sequence = witnessed.head.tip.sequence;
    Finding finding{"", 0, sequence, difference(witnessed)};
    if (witnessed.head.incarnation != report_.incarnation) {
      finding.what = witnessed.holder + " holds a signed head of an earlier log, which this one has replaced";
    } else if (sequence > report_.tip.sequence) {
      finding.sequence = report_.tip.sequence + 1;
      finding.what = fmt::format("the log ends at record {}, and {} holds a signed head of record {}",
                                 report_.tip.sequence, witnessed.holder, sequence);
    }
    if (!is_proven(witnessed)) finding.what += "; but its signature is not one of this log";
    const bool is_notice = is_declared_lost(witnessed) || !is_proven(witnessed);
    auto& list = is_notice ? report_.notices : report_.findings;
    list.push_back(std::move(finding));
  }
}

void ChainVerifier::finish(std::size_t left_over) {
  static const std::string whole_log;
  if (left_over > 0 && !is_broken_) fault({whole_log, 0}, "cut inside a record");
  if (!is_broken_ && report_.tip.sequence == 0) fault({whole_log, 0}, "the log is empty");
  check_beginning();
  check_last_signature();
  // What a broken chain did not reach is no second fault.
  if (!is_broken_) check_unreached();
}

}  // namespace outhaul::audit
