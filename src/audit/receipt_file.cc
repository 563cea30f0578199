#include "audit/receipt_file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "crypto/digest.h"

namespace outhaul::audit {
namespace {

namespace json = boost::json;

std::unexpected<Error> invalid(const std::string& member) {
  return fail(ErrorCode::invalid, "receipt file: " + member);
}

Result<std::string> text_of(const json::object& object, const char* member) {
  const auto* value = object.if_contains(member);
  if (value == nullptr || !value->is_string()) return invalid(member);
  return std::string(value->as_string());
}

Result<Bytes> base64_of(const json::object& object, const char* member) {
  OUTHAUL_TRY(text, text_of(object, member));
  auto bytes = parse_base64(text);
  if (!bytes) return invalid(member);
  return *std::move(bytes);
}

Result<Bytes> base64_or_none(const json::object& object, const char* member) {
  return object.contains(member) ? base64_of(object, member) : Result<Bytes>(Bytes());
}

Result<std::vector<crypto::EnvelopeSignature>> signatures_of(const json::object& object) {
  const auto* list = object.if_contains("signatures");
  if (list == nullptr || !list->is_array() ||
      list->as_array().size() > crypto::SignedEnvelope::max_signatures)
    return invalid("signatures");
  std::vector<crypto::EnvelopeSignature> signatures;
  for (const auto& item : list->as_array()) {
    if (!item.is_object()) return invalid("signatures");
    OUTHAUL_TRY(key_id, text_of(item.as_object(), "keyid"));
    OUTHAUL_TRY(signature, base64_of(item.as_object(), "sig"));
    signatures.push_back({std::move(key_id), std::move(signature)});
  }
  return signatures;
}

Result<wire::TaskSpec> match_task(const Receipt& receipt, ByteView envelope) {
  if (crypto::sha256(envelope) != receipt.task_sha256)
    return fail(ErrorCode::protocol_violation, "receipt: the signed task beside it is another one");
  OUTHAUL_TRY(parsed, wire::parse_envelope(envelope));
  OUTHAUL_TRY(spec, wire::parse_task_spec(parsed.payload));
  if (spec.task_id != receipt.task || spec.owner != receipt.owner || spec.audience != receipt.node)
    return fail(ErrorCode::protocol_violation,
                "receipt: it names another task, owner or node than the signed task");
  return std::move(spec);
}

}  // namespace

std::string serialise_receipt_file(const ReceiptFile& file) {
  const auto envelope = wire::parse_envelope(file.receipt).value_or(crypto::SignedEnvelope());
  json::object object;
  object["payloadType"] = envelope.payload_type;
  object["payload"] = to_base64(envelope.payload);
  auto& signatures = object["signatures"].emplace_array();
  for (const auto& signature : envelope.signatures)
    signatures.push_back(json::object{{"keyid", signature.key_id}, {"sig", to_base64(signature.signature)}});
  if (!file.authority.empty()) object["authority"] = to_base64(file.authority);
  if (!file.task_envelope.empty()) object["task"] = to_base64(file.task_envelope);
  return json::serialize(object);
}

Result<ReceiptFile> parse_receipt_file(std::string_view text) {
  if (text.size() > max_receipt_file_bytes) return invalid("too long");
  boost::system::error_code fault;
  const auto value = json::parse(text, fault);
  if (fault || !value.is_object()) return invalid("not a JSON object");
  const auto& object = value.as_object();
  crypto::SignedEnvelope envelope;
  OUTHAUL_TRY(type, text_of(object, "payloadType"));
  OUTHAUL_TRY(payload, base64_of(object, "payload"));
  OUTHAUL_TRY(signatures, signatures_of(object));
  OUTHAUL_TRY(authority, base64_or_none(object, "authority"));
  OUTHAUL_TRY(task, base64_or_none(object, "task"));
  envelope.payload_type = std::move(type);
  envelope.payload = std::move(payload);
  envelope.signatures = std::move(signatures);
  return ReceiptFile{wire::serialise_envelope(envelope), std::move(authority), std::move(task)};
}

Result<ReceiptCheck> verify_receipt_file(const ReceiptFile& file,
                                         const std::optional<crypto::Fingerprint>& anchor) {
  ReceiptCheck check;
  OUTHAUL_TRY(receipt, open_receipt(file.receipt));
  OUTHAUL_TRY(authority, crypto::Certificate::parse_der(file.authority));
  const auto fingerprint = crypto::Fingerprint::of_spki(authority.spki());
  if (anchor && !(*anchor == fingerprint))
    return fail(ErrorCode::ca_fingerprint_mismatch,
                "receipt: certified under another CA: " + fingerprint.text());
  const crypto::Certificate authorities[] = {authority};
  OUTHAUL_CHECK(verify_receipt_signer(receipt, authorities));
  OUTHAUL_TRY(certificate, crypto::Certificate::parse_der(receipt.certificate));
  if (!file.task_envelope.empty()) {
    OUTHAUL_TRY(task, match_task(receipt, file.task_envelope));
    check.task = std::move(task);
  }
  check.receipt = std::move(receipt);
  check.signer = certificate.uri();
  check.authority = fingerprint.text();
  check.is_anchored = anchor.has_value();
  return check;
}

}  // namespace outhaul::audit
