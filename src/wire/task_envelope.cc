// The envelope half of wire/task_spec.h.
#include <utility>

#include "outhaul/v1/task.pb.h"
#include "wire/task_spec.h"

namespace outhaul::wire {
namespace {

std::unexpected<Error> too_large() {
  return fail(Error(ErrorCode::task_too_large, "task: the signed envelope is over its size limit")
                  .with("limit_bytes", std::to_string(max_envelope_bytes)));
}

}  // namespace

Result<crypto::SignedEnvelope> parse_envelope(ByteView serialised) {
  if (serialised.size() > max_envelope_bytes) return too_large();
  v1::Envelope message;
  if (!message.ParseFromArray(serialised.data(), static_cast<int>(serialised.size()))) {
    return fail(ErrorCode::task_malformed, "envelope: not a message of this kind");
  }
  if (static_cast<std::size_t>(message.signatures_size()) > crypto::SignedEnvelope::max_signatures) {
    return fail(ErrorCode::task_malformed, "envelope: too many signatures");
  }
  crypto::SignedEnvelope envelope;
  envelope.payload_type = std::move(*message.mutable_payload_type());
  envelope.payload = std::move(*message.mutable_payload());
  for (auto& signature : *message.mutable_signatures()) {
    envelope.signatures.push_back(
        {std::move(*signature.mutable_key_id()), std::move(*signature.mutable_signature())});
  }
  return envelope;
}

Bytes serialise_envelope(const crypto::SignedEnvelope& envelope) {
  v1::Envelope message;
  message.set_payload_type(envelope.payload_type);
  message.set_payload(envelope.payload);
  for (const auto& signature : envelope.signatures) {
    auto* const added = message.add_signatures();
    added->set_key_id(signature.key_id);
    added->set_signature(signature.signature);
  }
  return message.SerializeAsString();
}

Result<Bytes> sign_task(const TaskSpec& spec, const KeyId& key_id, const crypto::SigningKey& key) {
  OUTHAUL_CHECK(check_task_spec(spec));
  auto serialised =
      serialise_envelope(crypto::sign_envelope(task_payload_type, serialise_task_spec(spec), key_id, key));
  if (serialised.size() > max_envelope_bytes) return too_large();
  return serialised;
}

Result<TaskSpec> open_task_envelope(ByteView serialised, std::span<const crypto::TrustedKey> keys) {
  OUTHAUL_TRY(envelope, parse_envelope(serialised));
  OUTHAUL_CHECK(crypto::verify_envelope(envelope, task_payload_type, keys));
  return parse_task_spec(envelope.payload);
}

}  // namespace outhaul::wire
