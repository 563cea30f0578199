// SignedEnvelope: bytes of a stated type and the signatures over them (DSSE v1). The protobuf form is
// in wire; here is what a signature covers and which one may be believed.
//   source  https://github.com/secure-systems-lab/dsse/blob/v1.0.0/protocol.md
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/ids.h"
#include "crypto/signing_key.h"

namespace outhaul::crypto {

struct EnvelopeSignature {
  std::string key_id;  // a hint and not covered by the signature
  Bytes signature;
  bool operator==(const EnvelopeSignature&) const = default;
};

struct SignedEnvelope {
  static constexpr std::size_t max_signatures = 8;

  std::string payload_type;
  Bytes payload;
  std::vector<EnvelopeSignature> signatures;
  bool operator==(const SignedEnvelope&) const = default;
};

// DSSE's pre-authentication encoding: what a signature covers. Its lengths keep two fields from being
// read as one, and the type keeps one kind of message from being taken for another.
Bytes pae(std::string_view payload_type, ByteView payload);

// The envelope with one signature.
SignedEnvelope sign_envelope(std::string_view payload_type, Bytes payload, const KeyId& key_id,
                             const SigningKey& key);

// A key that the verifier's own configuration trusts. Its C++ type is the algorithm: nothing in an
// envelope can choose another.
struct TrustedKey {
  KeyId key_id;
  VerifyKey key;
};

// The id of the trusted key whose signature over exactly these bytes holds.
//   payload_type  the only type the caller is about to read
//   keys          tried only where a signature names their id
//   errors        task_signature_invalid: another type, no or too many signatures, none that holds
Result<KeyId> verify_envelope(const SignedEnvelope& envelope, std::string_view payload_type,
                              std::span<const TrustedKey> keys);

}  // namespace outhaul::crypto
