// Any bytes as a certificate: refused with one code, or a value that survives a round trip and a
// verification.
#include "crypto/certificate.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"

using outhaul::crypto::Certificate;
using outhaul::crypto::CertificateUse;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  const auto certificate = Certificate::parse_der(input);
  if (!certificate) {
    OUTHAUL_ASSERT(certificate.error().code() == outhaul::ErrorCode::certificate_invalid);
    return 0;
  }
  OUTHAUL_ASSERT(certificate->der() == input);
  const auto again = Certificate::parse_pem(certificate->pem());
  OUTHAUL_ASSERT(again.has_value() && *again == *certificate);
  for (const auto use : {CertificateUse::tls_server, CertificateUse::tls_client, CertificateUse::signing}) {
    static_cast<void>(verify_certificate(*certificate, {&*certificate, 1}, use, certificate->not_before()));
  }
  return 0;
}
