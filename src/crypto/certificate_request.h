// CertificateRequest: a PKCS #10 request by which a node asks for its TLS certificate. The private key
// stays with the node; the request's own signature proves that the sender has it.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "crypto/tls_key.h"

namespace outhaul::crypto {

inline constexpr std::size_t max_common_name_bytes = 64;  // ub-common-name of RFC 5280
// 1..max_common_name_bytes of printable ASCII.
bool is_common_name(std::string_view text);

// PEM. Fails with `invalid` when `common_name` is not one by is_common_name.
Result<std::string> make_certificate_request(const TlsKey& key, std::string_view common_name);

class CertificateRequest {
 public:
  static constexpr std::size_t max_pem_bytes = 8192;

  // Fails with `certificate_invalid`: not exactly one PEM request, another key than P-256, a signature that
  // does not hold, a common name that make_certificate_request would refuse. Extensions asked for are
  // ignored: the issuer alone decides what a certificate says.
  static Result<CertificateRequest> parse_pem(ByteView pem);

  const std::string& common_name() const { return common_name_; }
  // DER of the SubjectPublicKeyInfo whose private key the sender holds.
  const Bytes& spki() const { return spki_; }

 private:
  CertificateRequest(std::string common_name, Bytes spki)
      : common_name_(std::move(common_name)), spki_(std::move(spki)) {}
  std::string common_name_;
  Bytes spki_;
};

}  // namespace outhaul::crypto
