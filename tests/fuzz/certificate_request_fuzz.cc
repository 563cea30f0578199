// Any bytes as a certificate request, as PEM and as the DER inside good PEM.
#include "crypto/certificate_request.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "crypto/pem.h"

using outhaul::crypto::CertificateRequest;

namespace {

void check(outhaul::ByteView pem) {
  const auto request = CertificateRequest::parse_pem(pem);
  if (!request) {
    OUTHAUL_ASSERT(request.error().code() == outhaul::ErrorCode::certificate_invalid);
    return;
  }
  OUTHAUL_ASSERT(outhaul::crypto::is_common_name(request->common_name()));
  OUTHAUL_ASSERT(outhaul::crypto::parse_p256_spki(request->spki()) != nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  check(input);
  if (!input.empty()) check(outhaul::crypto::write_pem_block(input, "CERTIFICATE REQUEST"));
  return 0;
}
