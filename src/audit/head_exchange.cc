#include "audit/head_exchange.h"

namespace outhaul::audit {

void HeadExchange::take_head(ByteView envelope, const std::string& log,
                             std::span<const crypto::TrustedKey> keys) {
  if (envelope.empty() || journal_ == nullptr) return;
  const auto* known = others_.find(log);
  if (known != nullptr && known->evidence == envelope) return;
  const auto head = open_head(envelope, keys);
  if (!head || head->log != log) {
    log_.warn("a peer's audit head does not hold",
              {{"log", log}, {"why", head ? "it is another log's" : head.error().what()}});
    return;
  }
  keep(*head, Bytes(envelope));
}

void HeadExchange::take_receipt(const Receipt& receipt, Bytes evidence) {
  if (!receipt.audit_head || receipt.audit_head->log != receipt.node.text() || journal_ == nullptr) return;
  keep(*receipt.audit_head, std::move(evidence));
}

void HeadExchange::keep(const AuditHead& head, Bytes evidence) {
  const auto* known = others_.find(head.log);
  const auto before = known == nullptr ? std::uint64_t{0} : known->head.tip.sequence;
  const auto verdict = others_.take(*journal_, head, std::move(evidence), clock_.wall_now());
  if (!verdict) return log_.failure("a peer's audit head is not kept", verdict.error());
  if (*verdict != WitnessBook::Verdict::regressed) return;
  log_.warn("a peer's audit log runs backwards",
            {{"log", head.log}, {"known", before}, {"said", head.tip.sequence}});
  AuditEntry entry(AuditAction::witness_regressed, "", head.log);
  entry.outcome = AuditOutcome::failed;
  entry = std::move(entry).with("known", std::to_string(before));
  note(own_, log_, std::move(entry).with("said", std::to_string(head.tip.sequence)));
}

std::vector<crypto::TrustedKey> head_keys(ByteView public_key) {
  std::vector<crypto::TrustedKey> keys;
  if (auto key = crypto::VerifyKey::parse(public_key))
    keys.push_back({key_id_of(public_key), *std::move(key)});
  return keys;
}

}  // namespace outhaul::audit
