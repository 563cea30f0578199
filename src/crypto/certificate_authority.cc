#include "crypto/certificate_authority.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "crypto/openssl_handle.h"

namespace outhaul::crypto {
namespace {

constexpr std::size_t serial_bytes = 16;
constexpr const char* leaf_constraints = "critical,CA:FALSE";
constexpr const char* leaf_key_usage = "critical,digitalSignature";
constexpr const char* document_signing = "1.3.6.1.5.5.7.3.36";  // RFC 9336

// Builds one certificate. Steps that only fail when memory does are asserted.
class CertificateDraft {
 public:
  // `issuer` is null when the certificate signs itself.
  CertificateDraft(EVP_PKEY& subject_key, std::string_view subject, X509* issuer)
      : x509_(X509_new()), issuer_(issuer == nullptr ? x509_.get() : issuer) {
    constexpr long version_3 = 2;
    OUTHAUL_ASSERT(x509_ && X509_set_version(x509_.get(), version_3) == 1);
    OUTHAUL_ASSERT(X509_set_pubkey(x509_.get(), &subject_key) == 1);
    auto* name = X509_get_subject_name(x509_.get());
    OUTHAUL_ASSERT(X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, as_octets(subject),
                                              static_cast<int>(subject.size()), -1, 0) == 1);
    OUTHAUL_ASSERT(X509_set_issuer_name(x509_.get(), X509_get_subject_name(issuer_)) == 1);
  }

  void set_serial(Random& random) {
    Bytes number = random.bytes(serial_bytes);
    // Positive and never zero (RFC 5280, 4.1.2.2), and of one length.
    number[0] = static_cast<char>((static_cast<unsigned char>(number[0]) & 0x3fU) | 0x40U);
    const std::unique_ptr<BIGNUM, OpensslFree<BN_free>> big(
        BN_bin2bn(as_octets(number), static_cast<int>(number.size()), nullptr));
    OUTHAUL_ASSERT(big && BN_to_ASN1_INTEGER(big.get(), X509_get_serialNumber(x509_.get())) != nullptr);
  }

  void set_times(WallTime not_before, WallTime not_after) {
    constexpr std::int64_t second = 1'000'000'000;
    OUTHAUL_ASSERT(ASN1_TIME_set(X509_getm_notBefore(x509_.get()), not_before.nanoseconds / second) !=
                   nullptr);
    OUTHAUL_ASSERT(ASN1_TIME_set(X509_getm_notAfter(x509_.get()), not_after.nanoseconds / second) != nullptr);
  }

  // `value` is OpenSSL's configuration syntax: constants of this file only, never text from outside.
  void add_extension(int nid, const char* value) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, issuer_, x509_.get(), nullptr, nullptr, 0);
    const ExtensionHandle extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    OUTHAUL_ASSERT(extension && X509_add_ext(x509_.get(), extension.get(), -1) == 1);
  }

  void add_names(GENERAL_NAMES& names) {
    OUTHAUL_ASSERT(X509_add1_ext_i2d(x509_.get(), NID_subject_alt_name, &names, 0, X509V3_ADD_DEFAULT) == 1);
  }

  Result<Certificate> sign(const TlsKey& issuer_key) {
    if (X509_sign(x509_.get(), issuer_key.native(), EVP_sha256()) <= 0) {
      return fail(ErrorCode::internal, "sign a certificate: the cryptographic library failed");
    }
    return Certificate::parse_der(to_der(i2d_X509, static_cast<const X509*>(x509_.get())));
  }

 private:
  X509Handle x509_;
  X509* issuer_;
};

GeneralNamesHandle no_names() {
  GeneralNamesHandle names(GENERAL_NAMES_new());
  OUTHAUL_ASSERT(names);
  return names;
}

// Built as values and not as OpenSSL's text syntax, in which a comma in a name would begin a second one.
void append_name(GENERAL_NAMES& names, int type, void* value) {
  auto* name = GENERAL_NAME_new();
  OUTHAUL_ASSERT(name != nullptr && value != nullptr);
  GENERAL_NAME_set0_value(name, type, value);
  OUTHAUL_ASSERT(sk_GENERAL_NAME_push(&names, name) > 0);
}

void append_text(GENERAL_NAMES& names, int type, std::string_view text) {
  auto* value = ASN1_IA5STRING_new();
  OUTHAUL_ASSERT(value != nullptr && ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) == 1);
  append_name(names, type, value);
}

Result<GeneralNamesHandle> general_names(const ServerNames& server) {
  if (server.dns.empty() && server.ips.empty())
    return fail(ErrorCode::invalid, "server certificate: no name");
  auto names = no_names();
  for (const auto& dns : server.dns) {
    if (!is_dns_name(dns)) return fail(ErrorCode::invalid, "server certificate: a name is no DNS name");
    append_text(*names, GEN_DNS, dns);
  }
  for (const auto& ip : server.ips) {
    auto* address = a2i_IPADDRESS(ip.c_str());
    if (address == nullptr)
      return fail(ErrorCode::invalid, "server certificate: an address is no IP address");
    append_name(*names, GEN_IPADD, address);
  }
  return names;
}

GeneralNamesHandle general_names(const NodeIdentity& identity) {
  auto names = no_names();
  append_text(*names, GEN_URI, identity.uri());
  return names;
}

// What one of the three kinds of leaf says.
struct Leaf {
  EVP_PKEY& key;
  std::string_view subject;
  const char* extended_key_usage;
  GENERAL_NAMES& names;
};

X509Handle decode(const Certificate& certificate) {
  const auto& der = certificate.der();
  const unsigned char* at = as_octets(ByteView(der));
  X509Handle x509(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  OUTHAUL_ASSERT(x509);
  return x509;
}

Result<Certificate> issue(const Certificate& authority, const TlsKey& authority_key, const Leaf& leaf,
                          Validity validity, Random& random) {
  const ErrorQueueGuard guard;
  const auto issuer = decode(authority);
  CertificateDraft draft(leaf.key, leaf.subject, issuer.get());
  draft.set_serial(random);
  draft.set_times(validity.now - certificate_backdate,
                  std::min(validity.now + validity.lifetime, authority.not_after()));
  draft.add_extension(NID_basic_constraints, leaf_constraints);
  draft.add_extension(NID_key_usage, leaf_key_usage);
  draft.add_extension(NID_ext_key_usage, leaf.extended_key_usage);
  draft.add_extension(NID_subject_key_identifier, "hash");
  draft.add_extension(NID_authority_key_identifier, "keyid:always");
  draft.add_names(leaf.names);
  return draft.sign(authority_key);
}

}  // namespace

Result<CertificateAuthority> CertificateAuthority::make(std::string_view common_name, Validity validity,
                                                        Random& random) {
  const ErrorQueueGuard guard;
  if (!is_common_name(common_name))
    return fail(ErrorCode::invalid, "CA: not a common name of 1 to 64 characters");
  OUTHAUL_TRY(key, TlsKey::generate());
  CertificateDraft draft(*key.native(), common_name, nullptr);
  draft.set_serial(random);
  draft.set_times(validity.now - certificate_backdate, validity.now + validity.lifetime);
  draft.add_extension(NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  draft.add_extension(NID_key_usage, "critical,keyCertSign,cRLSign");
  draft.add_extension(NID_subject_key_identifier, "hash");
  OUTHAUL_TRY(certificate, draft.sign(key));
  return CertificateAuthority(std::move(certificate), std::move(key));
}

Result<CertificateAuthority> CertificateAuthority::load(ByteView certificate_pem, const Secret& key_pem) {
  OUTHAUL_TRY(certificate, Certificate::parse_pem(certificate_pem));
  OUTHAUL_TRY(key, TlsKey::parse_pem(key_pem));
  if (!certificate.is_authority())
    return fail(ErrorCode::certificate_invalid, "CA: the certificate is no authority's");
  if (certificate.spki() != key.spki())
    return fail(ErrorCode::certificate_invalid, "CA: the key is another one's");
  return CertificateAuthority(std::move(certificate), std::move(key));
}

Result<Certificate> CertificateAuthority::issue_server(ByteView spki, const ServerNames& names,
                                                       Validity validity, Random& random) const {
  const auto key = parse_p256_spki(spki);
  if (!key) return fail(ErrorCode::invalid, "server certificate: the key is not P-256");
  OUTHAUL_TRY(alternative_names, general_names(names));
  const auto& first = names.dns.empty() ? names.ips.front() : names.dns.front();
  const auto subject = std::string_view(first).substr(0, max_common_name_bytes);
  return issue(certificate_, key_, {*key, subject, "serverAuth", *alternative_names}, validity, random);
}

Result<Certificate> CertificateAuthority::issue_node(const CertificateRequest& request,
                                                     const NodeIdentity& identity, Validity validity,
                                                     Random& random) const {
  const auto key = parse_p256_spki(request.spki());
  OUTHAUL_ASSERT(key);  // CertificateRequest::parse_pem has looked
  const auto names = general_names(identity);
  return issue(certificate_, key_, {*key, identity.node.text(), "clientAuth", *names}, validity, random);
}

Result<Certificate> CertificateAuthority::issue_signing(const VerifyKey& key, const NodeIdentity& identity,
                                                        Validity validity, Random& random) const {
  const auto& raw = key.public_key();
  const KeyHandle subject_key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, as_octets(ByteView(raw)), raw.size()));
  OUTHAUL_ASSERT(subject_key);
  const auto names = general_names(identity);
  return issue(certificate_, key_, {*subject_key, identity.node.text(), document_signing, *names}, validity,
               random);
}

}  // namespace outhaul::crypto
