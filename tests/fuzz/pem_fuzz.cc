// Any bytes as PEM: certificates' blocks, which must survive a round trip, and private keys, which must never
// lead to a question for a pass phrase.
#include "crypto/pem.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "crypto/signing_key.h"
#include "crypto/tls_key.h"

using outhaul::Secret;

namespace {

void check_blocks(outhaul::ByteView input) {
  constexpr std::size_t max_blocks = 4;
  const auto blocks = outhaul::crypto::parse_pem_blocks(input, "CERTIFICATE", max_blocks);
  if (!blocks) {
    OUTHAUL_ASSERT(blocks.error().code() == outhaul::ErrorCode::certificate_invalid);
    return;
  }
  OUTHAUL_ASSERT(!blocks->empty() && blocks->size() <= max_blocks);
  std::string written;
  for (const auto& der : *blocks) written += outhaul::crypto::write_pem_block(der, "CERTIFICATE");
  const auto again = outhaul::crypto::parse_pem_blocks(written, "CERTIFICATE", max_blocks);
  OUTHAUL_ASSERT(again.has_value() && *again == *blocks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  check_blocks(input);
  const auto signing_key = outhaul::crypto::SigningKey::parse_pem(Secret(std::string(input)));
  if (signing_key) OUTHAUL_ASSERT(signing_key->verify_key().verify("m", signing_key->sign("m")));
  const auto tls_key = outhaul::crypto::TlsKey::parse_pem(Secret(std::string(input)));
  if (tls_key) OUTHAUL_ASSERT(outhaul::crypto::parse_p256_spki(tls_key->spki()) != nullptr);
  return 0;
}
