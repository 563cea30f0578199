#include "crypto/certificate.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "crypto/openssl_handle.h"
#include "crypto/pem.h"
#include "crypto/signing_key.h"

namespace outhaul::crypto {
namespace {

constexpr std::string_view pem_label = "CERTIFICATE";
constexpr std::string_view document_signing = "1.3.6.1.5.5.7.3.36";
constexpr std::size_t max_uri_bytes = 2048;

using UsagesHandle = std::unique_ptr<EXTENDED_KEY_USAGE, OpensslFree<EXTENDED_KEY_USAGE_free>>;

std::unexpected<Error> malformed(const char* rule) { return fail(ErrorCode::certificate_invalid, rule); }

X509Handle decode(ByteView der) {
  const unsigned char* at = as_octets(der);
  X509Handle x509(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  return at == as_octets(der) + der.size() ? std::move(x509) : nullptr;
}

std::optional<WallTime> wall_time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  // X.509 can name the year 9999, int64 nanoseconds end in 2262: such a time is as good as never.
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max() / second;
  return WallTime{std::clamp<std::int64_t>(timegm(&parts), -latest, latest) * second};
}

// The only URI among the names; empty for none, several or one with bytes that no URI has.
std::string only_uri(const GENERAL_NAMES& names) {
  std::string uri;
  for (int i = 0; i < sk_GENERAL_NAME_num(&names); ++i) {
    int type = 0;
    const auto* value =
        static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(&names, i), &type));
    if (type != GEN_URI) continue;
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                static_cast<std::size_t>(ASN1_STRING_length(value)));
    const bool is_plain = std::ranges::all_of(text, [](char c) { return '!' <= c && c <= '~'; });
    if (!uri.empty() || text.empty() || text.size() > max_uri_bytes || !is_plain) return {};
    uri = text;
  }
  return uri;
}

std::optional<CertificateUse> use_of(const ASN1_OBJECT* usage) {
  switch (OBJ_obj2nid(usage)) {
    case NID_server_auth: return CertificateUse::tls_server;
    case NID_client_auth: return CertificateUse::tls_client;
    default: break;
  }
  // OpenSSL 3.0 has no number for this one.
  char dotted[80] = {};
  OBJ_obj2txt(dotted, sizeof dotted, usage, 1);
  return dotted == document_signing ? std::optional(CertificateUse::signing) : std::nullopt;
}

}  // namespace

std::string_view name_of(CertificateUse use) {
  switch (use) {
    case CertificateUse::tls_server: return "TLS server";
    case CertificateUse::tls_client: return "TLS client";
    case CertificateUse::signing: return "signing";
  }
  return "nothing";
}

// Fills a Certificate from OpenSSL's parse, one group of facts a function.
class CertificateReader {
 public:
  static Result<Certificate> read(ByteView der) {
    const ErrorQueueGuard guard;
    if (der.size() > Certificate::max_der_bytes) return malformed("certificate: too long");
    const auto x509 = decode(der);
    if (!x509) return malformed("certificate: no DER of a certificate, or cut short");
    CertificateReader reader(*x509);
    reader.certificate_.der_ = der;
    OUTHAUL_CHECK(reader.read_serial());
    OUTHAUL_CHECK(reader.read_times());
    OUTHAUL_CHECK(reader.read_key());
    OUTHAUL_CHECK(reader.read_names());
    OUTHAUL_CHECK(reader.read_uses());
    return std::move(reader.certificate_);
  }

 private:
  explicit CertificateReader(X509& x509) : x509_(x509) {}

  Result<void> read_serial() {
    const ASN1_INTEGER* serial = X509_get0_serialNumber(&x509_);
    if (serial == nullptr || ASN1_STRING_length(serial) <= 0)
      return malformed("certificate: no serial number");
    certificate_.serial_ = to_hex({reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
                                   static_cast<std::size_t>(ASN1_STRING_length(serial))});
    return {};
  }

  Result<void> read_times() {
    const auto not_before = wall_time_of(X509_get0_notBefore(&x509_));
    const auto not_after = wall_time_of(X509_get0_notAfter(&x509_));
    if (!not_before || !not_after) return malformed("certificate: malformed time");
    certificate_.not_before_ = *not_before;
    certificate_.not_after_ = *not_after;
    return {};
  }

  Result<void> read_key() {
    const EVP_PKEY* key = X509_get0_pubkey(&x509_);
    if (key == nullptr) return malformed("certificate: unknown kind of public key");
    certificate_.spki_ =
        to_der(i2d_X509_PUBKEY, static_cast<const X509_PUBKEY*>(X509_get_X509_PUBKEY(&x509_)));
    if (EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) return {};
    Bytes raw(ed25519_public_bytes, '\0');
    std::size_t size = raw.size();
    if (EVP_PKEY_get_raw_public_key(key, as_octets(raw), &size) != 1)
      return malformed("certificate: malformed key");
    certificate_.ed25519_key_ = std::move(raw);
    return {};
  }

  Result<void> read_names() {
    int state = 0;
    const GeneralNamesHandle names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&x509_, NID_subject_alt_name, &state, nullptr)));
    if (names) certificate_.uri_ = only_uri(*names);
    if (!names && state != extension_absent) return malformed("certificate: malformed alternative names");
    return {};
  }

  Result<void> read_uses() {
    // Also makes OpenSSL look at every extension, so that a malformed one shows in the flags.
    certificate_.is_authority_ = X509_check_ca(&x509_) == 1;
    if ((X509_get_extension_flags(&x509_) & EXFLAG_INVALID) != 0)
      return malformed("certificate: malformed extension");
    const UsagesHandle usages(
        static_cast<EXTENDED_KEY_USAGE*>(X509_get_ext_d2i(&x509_, NID_ext_key_usage, nullptr, nullptr)));
    if (!usages || (X509_get_key_usage(&x509_) & KU_DIGITAL_SIGNATURE) == 0) return {};
    for (int i = 0; i < sk_ASN1_OBJECT_num(usages.get()); ++i) {
      const auto use = use_of(sk_ASN1_OBJECT_value(usages.get(), i));
      if (use) certificate_.uses_.push_back(*use);
    }
    return {};
  }

  static constexpr int extension_absent = -1;  // X509_get_ext_d2i(3)
  X509& x509_;
  Certificate certificate_;
};

Result<Certificate> Certificate::parse_der(ByteView der) { return CertificateReader::read(der); }

Result<Certificate> Certificate::parse_pem(ByteView pem) {
  OUTHAUL_TRY(blocks, parse_pem_blocks(pem, pem_label, 1));
  return parse_der(blocks.front());
}

Result<std::vector<Certificate>> Certificate::parse_pem_bundle(ByteView pem) {
  OUTHAUL_TRY(blocks, parse_pem_blocks(pem, pem_label, max_bundle));
  std::vector<Certificate> certificates;
  for (const auto& der : blocks) {
    OUTHAUL_TRY(certificate, parse_der(der));
    certificates.push_back(std::move(certificate));
  }
  return certificates;
}

std::string Certificate::pem() const { return write_pem_block(der_, pem_label); }

bool Certificate::is_for(CertificateUse use) const {
  // The two kinds of key never stand in for each other, whatever the extensions say.
  const bool is_signing_key = !ed25519_key_.empty();
  return is_signing_key == (use == CertificateUse::signing) && std::ranges::find(uses_, use) != uses_.end();
}

namespace {

using StoreHandle = std::unique_ptr<X509_STORE, OpensslFree<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>>;

std::unexpected<Error> refused(std::string_view reason, std::string what) {
  return fail(Error(ErrorCode::certificate_invalid, "certificate: " + std::move(what))
                  .with("reason", std::string(reason)));
}

StoreHandle store_of(std::span<const Certificate> authorities) {
  StoreHandle store(X509_STORE_new());
  OUTHAUL_ASSERT(store);
  for (const auto& authority : authorities) {
    const auto x509 = decode(authority.der());
    OUTHAUL_ASSERT(x509 && X509_STORE_add_cert(store.get(), x509.get()) == 1);
  }
  return store;
}

int purpose_of(CertificateUse use) {
  switch (use) {
    case CertificateUse::tls_server: return X509_PURPOSE_SSL_SERVER;
    case CertificateUse::tls_client: return X509_PURPOSE_SSL_CLIENT;
    case CertificateUse::signing: return X509_PURPOSE_ANY;  // is_for has looked
  }
  return X509_PURPOSE_ANY;
}

void set_rules(X509_VERIFY_PARAM& rules, CertificateUse use, WallTime now) {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr int at_least_112_bits = 2;  // X509_VERIFY_PARAM_set_auth_level(3)
  X509_VERIFY_PARAM_set_time(&rules, now.nanoseconds / second);
  X509_VERIFY_PARAM_set_auth_level(&rules, at_least_112_bits);
  OUTHAUL_ASSERT(X509_VERIFY_PARAM_set_flags(&rules, X509_V_FLAG_X509_STRICT) == 1);
  OUTHAUL_ASSERT(X509_VERIFY_PARAM_set_purpose(&rules, purpose_of(use)) == 1);
}

std::unexpected<Error> verdict(int error) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return refused("expired", "expired");
    case X509_V_ERR_CERT_NOT_YET_VALID: return refused("not_yet_valid", "not yet valid; compare the clocks");
    case X509_V_ERR_INVALID_PURPOSE: return refused("use", "not issued for this use");
    default: return refused("untrusted", std::string("not trusted: ") + X509_verify_cert_error_string(error));
  }
}

}  // namespace

Result<void> verify_certificate(const Certificate& certificate, std::span<const Certificate> authorities,
                                CertificateUse use, WallTime now) {
  const ErrorQueueGuard guard;
  if (!certificate.is_for(use))
    return refused("use", "not issued for the use as " + std::string(name_of(use)));
  const auto store = store_of(authorities);
  const auto x509 = decode(certificate.der());
  const StoreContext context(X509_STORE_CTX_new());
  OUTHAUL_ASSERT(x509 && context &&
                 X509_STORE_CTX_init(context.get(), store.get(), x509.get(), nullptr) == 1);
  set_rules(*X509_STORE_CTX_get0_param(context.get()), use, now);
  if (X509_verify_cert(context.get()) == 1) return {};
  return verdict(X509_STORE_CTX_get_error(context.get()));
}

}  // namespace outhaul::crypto
