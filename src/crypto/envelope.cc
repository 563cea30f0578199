#include "crypto/envelope.h"

#include <algorithm>
#include <utility>

namespace outhaul::crypto {
namespace {

void append_field(Bytes& out, ByteView field) {
  out.append(" ").append(std::to_string(field.size())).append(" ").append(field);
}

bool holds(const EnvelopeSignature& signature, ByteView covered, const TrustedKey& trusted) {
  return signature.key_id == trusted.key_id.text() && trusted.key.verify(covered, signature.signature);
}

}  // namespace

Bytes pae(std::string_view payload_type, ByteView payload) {
  constexpr std::string_view version = "DSSEv1";
  constexpr std::size_t room_for_lengths = 44;  // two of up to 20 digits, each between spaces
  Bytes encoded;
  encoded.reserve(version.size() + payload_type.size() + payload.size() + room_for_lengths);
  encoded.append(version);
  append_field(encoded, payload_type);
  append_field(encoded, payload);
  return encoded;
}

SignedEnvelope sign_envelope(std::string_view payload_type, Bytes payload, const KeyId& key_id,
                             const SigningKey& key) {
  SignedEnvelope envelope{std::string(payload_type), std::move(payload), {}};
  envelope.signatures.push_back({key_id.text(), key.sign(pae(envelope.payload_type, envelope.payload))});
  return envelope;
}

Result<KeyId> verify_envelope(const SignedEnvelope& envelope, std::string_view payload_type,
                              std::span<const TrustedKey> keys) {
  const auto refused = [](const char* why) { return fail(ErrorCode::task_signature_invalid, why); };
  if (envelope.payload_type != payload_type) return refused("envelope: signed as another type of payload");
  if (envelope.signatures.empty()) return refused("envelope: no signature");
  // A verification costs 40 us: a sender must not buy many with one envelope.
  if (envelope.signatures.size() > SignedEnvelope::max_signatures)
    return refused("envelope: too many signatures");
  const Bytes covered = pae(envelope.payload_type, envelope.payload);
  for (const auto& signature : envelope.signatures) {
    const auto key = std::ranges::find_if(keys, [&](const auto& k) { return holds(signature, covered, k); });
    if (key != keys.end()) return key->key_id;
  }
  return refused("envelope: no signature by a trusted key holds");
}

}  // namespace outhaul::crypto
