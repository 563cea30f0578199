#include "audit/head.h"

#include "base/random.h"
#include "crypto/digest.h"
#include "outhaul/v1/audit.pb.h"
#include "wire/task_spec.h"

namespace outhaul::audit {
namespace {

constexpr std::size_t max_log_name_bytes = 300;

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

// The random part of an id, decided by what it is the name of.
class DigestBytes final : public Random {
 public:
  explicit DigestBytes(Bytes digest) : digest_(std::move(digest)) {}
  Bytes bytes(std::size_t count) override { return digest_.substr(0, count); }

 private:
  Bytes digest_;
};

Result<crypto::SignedEnvelope> parse_envelope(ByteView envelope) {
  if (envelope.size() > max_head_bytes) return violation("audit head: too long");
  return wire::parse_envelope(envelope);
}

}  // namespace

std::string hub_log_name(std::string_view deployment) { return "hub:" + std::string(deployment); }

KeyId key_id_of(ByteView public_key) {
  DigestBytes digest(crypto::sha256(public_key));
  return KeyId::make(WallTime(), digest);
}

void write_head(const AuditHead& head, v1::AuditHead& message) {
  message.set_log(head.log);
  message.set_incarnation(head.incarnation);
  message.set_sequence(head.tip.sequence);
  message.set_hash(head.tip.hash);
  message.set_time_ns(head.time.nanoseconds);
}

Result<AuditHead> head_of(const v1::AuditHead& message) {
  if (message.log().empty() || message.log().size() > max_log_name_bytes) return violation("audit head: log");
  if (message.incarnation().size() != log_incarnation_bytes) return violation("audit head: incarnation");
  if (message.hash().size() != chain_hash_bytes) return violation("audit head: hash");
  if (message.sequence() == 0 || message.time_ns() < 0) return violation("audit head: sequence or time");
  return AuditHead{
      message.log(), message.incarnation(), {message.sequence(), message.hash()}, {message.time_ns()}};
}

Result<AuditHead> parse_head(ByteView payload) {
  v1::AuditHead message;
  if (payload.size() > max_head_bytes ||
      !message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return violation("audit head: not a message of this kind");
  }
  return head_of(message);
}

Bytes sign_head(const AuditHead& head, const NamedKey& signer) {
  v1::AuditHead message;
  write_head(head, message);
  return wire::serialise_envelope(
      crypto::sign_envelope(head_payload_type, message.SerializeAsString(), signer.id, *signer.key));
}

Result<AuditHead> open_head(ByteView envelope, std::span<const crypto::TrustedKey> keys) {
  OUTHAUL_TRY(parsed, parse_envelope(envelope));
  OUTHAUL_CHECK(crypto::verify_envelope(parsed, head_payload_type, keys));
  return parse_head(parsed.payload);
}

Result<AuditHead> assume_head(ByteView envelope) {
  OUTHAUL_TRY(parsed, parse_envelope(envelope));
  if (parsed.payload_type != head_payload_type) return violation("audit head: another type of payload");
  return parse_head(parsed.payload);
}

}  // namespace outhaul::audit
