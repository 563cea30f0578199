// Any bytes as the short texts of identity: tokens, fingerprints, node names, raw public keys.
#include "crypto/token.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "crypto/fingerprint.h"
#include "crypto/node_identity.h"
#include "crypto/signing_key.h"

using namespace outhaul::crypto;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  if (const auto token = parse_api_token(input)) OUTHAUL_ASSERT(token->equals(input));
  if (const auto token = parse_enrolment_token(input)) {
    OUTHAUL_ASSERT(token->text.equals(input) && is_dns_name(token->deployment));
  }
  if (const auto fingerprint = Fingerprint::parse(input)) {
    OUTHAUL_ASSERT(*Fingerprint::parse(fingerprint->text()) == *fingerprint);
  }
  if (const auto identity = NodeIdentity::parse_uri(input)) OUTHAUL_ASSERT(identity->uri() == input);
  if (const auto key = VerifyKey::parse(input)) OUTHAUL_ASSERT(key->public_key() == input);
  return 0;
}
