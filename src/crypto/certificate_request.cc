#include "crypto/certificate_request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "crypto/openssl_handle.h"
#include "crypto/pem.h"

namespace outhaul::crypto {
namespace {

constexpr std::string_view pem_label = "CERTIFICATE REQUEST";

RequestHandle decode(ByteView der) {
  const unsigned char* at = as_octets(der);
  RequestHandle request(d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())));
  return at == as_octets(der) + der.size() ? std::move(request) : nullptr;
}

// The subject's only common name; empty for none, several or one with odd characters.
std::optional<std::string> common_name_of(const X509_NAME& subject) {
  const int index = X509_NAME_get_index_by_NID(&subject, NID_commonName, -1);
  if (index < 0 || X509_NAME_get_index_by_NID(&subject, NID_commonName, index) >= 0) return std::nullopt;
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(&subject, index)));
  if (size < 0) return std::nullopt;
  std::string name(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
  OPENSSL_free(utf8);
  return is_common_name(name) ? std::optional(std::move(name)) : std::nullopt;
}

}  // namespace

bool is_common_name(std::string_view text) {
  if (text.empty() || text.size() > max_common_name_bytes) return false;
  return std::ranges::all_of(text, [](char c) { return ' ' <= c && c <= '~'; });
}

Result<std::string> make_certificate_request(const TlsKey& key, std::string_view common_name) {
  const ErrorQueueGuard guard;
  if (!is_common_name(common_name))
    return fail(ErrorCode::invalid, "common name: not 1 to 64 printable characters");
  const RequestHandle request(X509_REQ_new());
  OUTHAUL_ASSERT(request && X509_REQ_set_pubkey(request.get(), key.native()) == 1);
  auto* subject = X509_REQ_get_subject_name(request.get());
  OUTHAUL_ASSERT(X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, as_octets(common_name),
                                            static_cast<int>(common_name.size()), -1, 0) == 1);
  if (X509_REQ_sign(request.get(), key.native(), EVP_sha256()) <= 0) {
    return fail(ErrorCode::internal, "sign a certificate request: the cryptographic library failed");
  }
  return write_pem_block(to_der(i2d_X509_REQ, static_cast<const X509_REQ*>(request.get())), pem_label);
}

Result<CertificateRequest> CertificateRequest::parse_pem(ByteView pem) {
  const ErrorQueueGuard guard;
  const auto invalid = [](const char* rule) { return fail(ErrorCode::certificate_invalid, rule); };
  if (pem.size() > max_pem_bytes) return invalid("certificate request: too long");
  OUTHAUL_TRY(blocks, parse_pem_blocks(pem, pem_label, 1));
  const auto request = decode(blocks.front());
  if (!request) return invalid("certificate request: no DER of a request, or cut short");
  auto spki =
      to_der(i2d_X509_PUBKEY, static_cast<const X509_PUBKEY*>(X509_REQ_get_X509_PUBKEY(request.get())));
  const auto key = parse_p256_spki(spki);
  if (!key) return invalid("certificate request: the key is not P-256");
  if (X509_REQ_verify(request.get(), key.get()) != 1) {
    return invalid("certificate request: its signature does not hold, so the sender does not have the key");
  }
  auto common_name = common_name_of(*X509_REQ_get_subject_name(request.get()));
  if (!common_name)
    return invalid("certificate request: not one common name of 1 to 64 printable characters");
  return CertificateRequest(std::move(*common_name), std::move(spki));
}

}  // namespace outhaul::crypto
