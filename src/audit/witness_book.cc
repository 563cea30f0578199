#include "audit/witness_book.h"

#include "audit/journal_types.h"
#include "audit/receipt.h"
#include "outhaul/v1/audit.pb.h"

namespace outhaul::audit {
namespace {

Bytes serialise(const WitnessBook::Witness& witness) {
  v1::AuditWitness message;
  message.set_evidence(witness.evidence);
  message.set_seen_at_ns(witness.seen_at.nanoseconds);
  return message.SerializeAsString();
}

}  // namespace

Result<AuditHead> head_in_evidence(ByteView evidence) {
  if (auto head = assume_head(evidence)) return head;
  OUTHAUL_TRY(receipt, assume_receipt(evidence));
  if (!receipt.audit_head) return fail(ErrorCode::protocol_violation, "audit evidence: it names no head");
  return *std::move(receipt.audit_head);
}

WitnessBook::Verdict WitnessBook::judge(const AuditHead& head) const {
  const auto* known = find(head.log);
  if (known == nullptr) return Verdict::newer;
  const auto& last = known->head;
  if (last.incarnation != head.incarnation || head.tip.sequence < last.tip.sequence)
    return Verdict::regressed;
  if (head.tip.sequence > last.tip.sequence) return Verdict::newer;
  return head.tip == last.tip ? Verdict::known : Verdict::regressed;
}

// One that is only newer takes the place of the last; one that contradicts it stands beside it.
void WitnessBook::keep(Witness witness) {
  auto& heads = logs_[witness.head.log];
  const bool replaces = !heads.empty() && judge(witness.head) == Verdict::newer;
  if (replaces) heads.pop_back();
  heads.push_back(std::move(witness));
  if (heads.size() > max_contradicted + 1) heads.erase(heads.begin());
}

Result<WitnessBook::Verdict> WitnessBook::take(stream::Journal& journal, const AuditHead& head,
                                               Bytes evidence, WallTime now) {
  const auto verdict = judge(head);
  if (verdict == Verdict::known) return verdict;
  Witness witness{head, std::move(evidence), now};
  OUTHAUL_CHECK(journal.append(audit_witness_type, serialise(witness)));
  keep(std::move(witness));
  return verdict;
}

const WitnessBook::Witness* WitnessBook::find(const std::string& log) const {
  const auto found = logs_.find(log);
  return found == logs_.end() ? nullptr : &found->second.back();
}

std::vector<WitnessBook::Witness> WitnessBook::all_of(const std::string& log) const {
  const auto found = logs_.find(log);
  return found == logs_.end() ? std::vector<Witness>() : found->second;
}

std::vector<WitnessBook::Witness> WitnessBook::all() const {
  std::vector<Witness> all;
  for (const auto& [log, heads] : logs_) all.insert(all.end(), heads.begin(), heads.end());
  return all;
}

bool WitnessBook::owns(stream::JournalType type) const { return type == audit_witness_type; }

Result<void> WitnessBook::replay(stream::JournalType, ByteView payload) {
  v1::AuditWitness message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return fail(ErrorCode::journal_corrupt, "audit: a kept head is not readable");
  auto head = head_in_evidence(message.evidence());
  if (!head) return fail(ErrorCode::journal_corrupt, "audit: a kept head is not readable");
  keep({*std::move(head), message.evidence(), {message.seen_at_ns()}});
  return {};
}

Result<void> WitnessBook::write_live(stream::Journal& journal) {
  for (const auto& witness : all()) OUTHAUL_CHECK(journal.append(audit_witness_type, serialise(witness)));
  return {};
}

}  // namespace outhaul::audit
