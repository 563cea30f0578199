#include "audit/receipt.h"

#include "crypto/digest.h"
#include "crypto/node_identity.h"
#include "outhaul/v1/audit.pb.h"
#include "wire/task_spec.h"
#include "wire/utf8.h"

namespace outhaul::audit {
namespace {

constexpr std::size_t max_path_bytes = 1024;
constexpr std::size_t max_word_bytes = 64;
constexpr int max_streams = 8;

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

bool is_digest(const Bytes& bytes) { return bytes.size() == crypto::sha256_bytes; }
bool is_digest_or_none(const Bytes& bytes) { return bytes.empty() || is_digest(bytes); }

v1::Receipt message_of(const Receipt& receipt) {
  v1::Receipt message;
  message.set_task_id(receipt.task.text());
  message.set_node_id(receipt.node.text());
  message.set_owner(receipt.owner.text());
  message.set_task_sha256(receipt.task_sha256);
  message.set_isolation(std::string(name_of(receipt.isolation)));
  message.set_egress_sha256(receipt.egress_sha256);
  message.set_executable_sha256(receipt.executable_sha256);
  message.set_executable(wire::printable_utf8(receipt.executable, max_path_bytes));
  message.set_end(receipt.end);
  message.set_exit_code(receipt.exit_code);
  message.set_signal(receipt.signal);
  message.set_error_code(receipt.error_code);
  message.set_accepted_at_ns(receipt.accepted_at.nanoseconds);
  if (receipt.started_at) message.set_started_at_ns(receipt.started_at->nanoseconds);
  message.set_ended_at_ns(receipt.ended_at.nanoseconds);
  for (const auto& stream : receipt.streams) {
    auto& added = *message.add_streams();
    added.set_kind(stream.kind);
    added.set_bytes(stream.totals.bytes);
    added.set_sha256(stream.totals.sha256);
  }
  message.set_bytes_left_out(receipt.bytes_left_out);
  if (receipt.audit_head) write_head(*receipt.audit_head, *message.mutable_audit_head());
  message.set_certificate(receipt.certificate);
  return message;
}

Result<void> check_digests(const v1::Receipt& message) {
  if (!is_digest(message.task_sha256())) return violation("receipt: task_sha256");
  if (!is_digest_or_none(message.egress_sha256())) return violation("receipt: egress_sha256");
  if (!is_digest_or_none(message.executable_sha256())) return violation("receipt: executable_sha256");
  if (message.streams_size() > max_streams) return violation("receipt: too many streams");
  for (const auto& stream : message.streams()) {
    if (stream.kind().empty() || stream.kind().size() > max_word_bytes || !is_digest_or_none(stream.sha256()))
      return violation("receipt: a stream");
  }
  return {};
}

Result<void> check(const v1::Receipt& message) {
  if (message.executable().size() > max_path_bytes) return violation("receipt: executable");
  if (message.end().empty() || message.end().size() > max_word_bytes) return violation("receipt: end");
  if (message.error_code().size() > max_word_bytes) return violation("receipt: error_code");
  if (message.accepted_at_ns() < 0 || message.started_at_ns() < 0 || message.ended_at_ns() < 0)
    return violation("receipt: a time before 1970");
  return check_digests(message);
}

Result<Receipt> parse_receipt(ByteView payload) {
  v1::Receipt message;
  if (payload.size() > max_receipt_bytes ||
      !message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return violation("receipt: not a message of this kind");
  }
  OUTHAUL_CHECK(check(message));
  const auto task = TaskId::parse(message.task_id());
  const auto node = NodeId::parse(message.node_id());
  const auto owner = AccountId::parse(message.owner());
  const auto isolation = wire::parse_isolation(message.isolation());
  if (!task || !node || !owner) return violation("receipt: an id");
  if (!isolation) return violation("receipt: isolation");
  Receipt receipt;
  receipt.task = *task;
  receipt.node = *node;
  receipt.owner = *owner;
  receipt.task_sha256 = message.task_sha256();
  receipt.isolation = *isolation;
  receipt.egress_sha256 = message.egress_sha256();
  receipt.executable = message.executable();
  receipt.executable_sha256 = message.executable_sha256();
  receipt.end = message.end();
  receipt.exit_code = message.exit_code();
  receipt.signal = message.signal();
  receipt.error_code = message.error_code();
  receipt.accepted_at = {message.accepted_at_ns()};
  if (message.started_at_ns() != 0) receipt.started_at = WallTime{message.started_at_ns()};
  receipt.ended_at = {message.ended_at_ns()};
  for (const auto& stream : message.streams())
    receipt.streams.push_back({stream.kind(), {stream.bytes(), stream.sha256()}});
  receipt.bytes_left_out = message.bytes_left_out();
  if (message.has_audit_head()) {
    OUTHAUL_TRY(head, head_of(message.audit_head()));
    receipt.audit_head = std::move(head);
  }
  receipt.certificate = message.certificate();
  return receipt;
}

Result<crypto::SignedEnvelope> parse_signed(ByteView envelope) {
  if (envelope.size() > max_receipt_bytes) return violation("receipt: too long");
  return wire::parse_envelope(envelope);
}

wire::StreamTotals totals_of(const Receipt& receipt, std::string_view kind) {
  for (const auto& stream : receipt.streams) {
    if (stream.kind == kind) return stream.totals;
  }
  return {};
}

}  // namespace

Bytes sign_receipt(const Receipt& receipt, const NamedKey& signer) {
  return wire::serialise_envelope(crypto::sign_envelope(
      receipt_payload_type, message_of(receipt).SerializeAsString(), signer.id, *signer.key));
}

Result<Receipt> open_receipt(ByteView envelope) {
  OUTHAUL_TRY(parsed, parse_signed(envelope));
  OUTHAUL_TRY(receipt, parse_receipt(parsed.payload));
  OUTHAUL_TRY(certificate, crypto::Certificate::parse_der(receipt.certificate));
  OUTHAUL_TRY(key, crypto::VerifyKey::parse(certificate.ed25519_key()));
  const crypto::TrustedKey own[] = {{key_id_of(certificate.ed25519_key()), std::move(key)}};
  OUTHAUL_CHECK(crypto::verify_envelope(parsed, receipt_payload_type, own));
  return std::move(receipt);
}

Result<Receipt> open_receipt(ByteView envelope, const crypto::VerifyKey& key) {
  OUTHAUL_TRY(parsed, parse_signed(envelope));
  const bool is_signed =
      parsed.payload_type == receipt_payload_type && parsed.signatures.size() == 1 &&
      key.verify(crypto::pae(parsed.payload_type, parsed.payload), parsed.signatures[0].signature);
  if (!is_signed) return fail(ErrorCode::task_signature_invalid, "receipt: not signed by its node's key");
  return parse_receipt(parsed.payload);
}

Result<Receipt> assume_receipt(ByteView envelope) {
  OUTHAUL_TRY(parsed, parse_signed(envelope));
  if (parsed.payload_type != receipt_payload_type) return violation("receipt: another type of payload");
  return parse_receipt(parsed.payload);
}

Result<void> verify_receipt_signer(const Receipt& receipt, std::span<const crypto::Certificate> authorities) {
  OUTHAUL_TRY(certificate, crypto::Certificate::parse_der(receipt.certificate));
  OUTHAUL_CHECK(crypto::verify_certificate(certificate, authorities, crypto::CertificateUse::signing,
                                           receipt.ended_at));
  OUTHAUL_TRY(identity, crypto::NodeIdentity::parse_uri(certificate.uri()));
  if (identity.node != receipt.node)
    return fail(ErrorCode::certificate_invalid, "receipt: signed by another node than it names");
  return {};
}

Result<void> match_result(const Receipt& receipt, const wire::TaskResult& result) {
  if (receipt.task != result.task_id) return violation("receipt: another task's");
  if (receipt.end != wire::state_of(result.end)) return violation("receipt: end");
  const auto* exited = std::get_if<wire::Exited>(&result.end);
  if (exited != nullptr && exited->code != receipt.exit_code) return violation("receipt: exit_code");
  const auto* signalled = std::get_if<wire::Signalled>(&result.end);
  if (signalled != nullptr && signalled->signal != receipt.signal) return violation("receipt: signal");
  if (totals_of(receipt, "stdout") != result.out) return violation("receipt: stdout");
  if (totals_of(receipt, "stderr") != result.err) return violation("receipt: stderr");
  if (receipt.isolation != result.isolation) return violation("receipt: isolation");
  if (receipt.started_at != result.started_at || receipt.ended_at != result.ended_at)
    return violation("receipt: times");
  return {};
}

}  // namespace outhaul::audit
