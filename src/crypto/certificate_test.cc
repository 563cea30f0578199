#include "crypto/certificate.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "crypto/certificate_authority.h"
#include "crypto/pem.h"
#include "testing/seeded_random.h"

namespace outhaul::crypto {
namespace {

using outhaul::testing::SeededRandom;
using std::chrono::hours;
using std::chrono::seconds;

// 2026-01-01T00:00:00Z, a whole second as certificates have.
constexpr WallTime now{1'767'225'600'000'000'000};
constexpr Validity week{now, node_certificate_lifetime};

// Made with `openssl req -x509`, since our own authority issues none of these.
constexpr const char* ed25519_for_tls_with_two_uris = R"(-----BEGIN CERTIFICATE-----
MIIBhDCCATagAwIBAgIUcerQRetKwm+fxoJMM4/gjKIpLDUwBQYDK2VwMAwxCjAI
BgNVBAMMAWEwIBcNMjYxMTMwMTM1NzI1WhgPMjEyNjExMDYxMzU3MjVaMAwxCjAI
BgNVBAMMAWEwKjAFBgMrZXADIQCw3vc4SHnS9b0C2QFVZSKHigrRxN/P6ZOfuKHx
r96D06OBpzCBpDAdBgNVHQ4EFgQUy/NHXmC5A0pOyKhMY6dml7s9lAMwHwYDVR0j
BBgwFoAUy/NHXmC5A0pOyKhMY6dml7s9lAMwDwYDVR0TAQH/BAUwAwEB/zATBgNV
HSUEDDAKBggrBgEFBQcDAjALBgNVHQ8EBAMCB4AwLwYDVR0RBCgwJoYRc3BpZmZl
Oi8vYS9ub2RlLzGGEXNwaWZmZTovL2Evbm9kZS8yMAUGAytlcANBAHcpN0esVLId
fi0SEn3QF3Q5gE1v04NyTDd7GwMD05PgqbpmekYY7IF5OJMuRPdMNnsVkpX8N7kg
XROUah031Aw=
-----END CERTIFICATE-----
)";
constexpr const char* p256_for_signing = R"(-----BEGIN CERTIFICATE-----
MIIBkTCCATegAwIBAgIUKPBbGuzO08g4O7f6lKhAk115I7kwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYjAgFw0yNjExMzAxMzU3MjVaGA8yMTI2MTEwNjEzNTcyNVow
DDEKMAgGA1UEAwwBYjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEwLEgqSQmaL
sUyzTyeu4Vu5EyaHgej+JMKVm0GLdhHoN2gMwSjTnfXveIIwKKjMdm+H96VnSyRg
mo/7GpNDza+jdTBzMB0GA1UdDgQWBBTsWNRqpR+jQfvhqWlv9Jo0x3JBjDAfBgNV
HSMEGDAWgBTsWNRqpR+jQfvhqWlv9Jo0x3JBjDAPBgNVHRMBAf8EBTADAQH/MBMG
A1UdJQQMMAoGCCsGAQUFBwMkMAsGA1UdDwQEAwIHgDAKBggqhkjOPQQDAgNIADBF
AiEAuq2dlfTlW2fHN/VktuwK6jSeUdTxOOGduZ8klSNw16cCIGJs7wDTfPH4KsDG
IOcw2/j4YhPbVOfGXKOsl1ux+3V3
-----END CERTIFICATE-----
)";
constexpr const char* ed25519_without_digital_signature = R"(-----BEGIN CERTIFICATE-----
MIIBUTCCAQOgAwIBAgIUX20YQLHawGapUFuCf0cUZdFEUb8wBQYDK2VwMAwxCjAI
BgNVBAMMAWMwIBcNMjYxMTMwMTM1NzI1WhgPMjEyNjExMDYxMzU3MjVaMAwxCjAI
BgNVBAMMAWMwKjAFBgMrZXADIQAr/trCcHX5XKtmPHnT2uXEBqmvqtl3rhlB3fTz
r27tH6N1MHMwHQYDVR0OBBYEFP7BFKQPJC5j6+G0rO+zjuH50yVbMB8GA1UdIwQY
MBaAFP7BFKQPJC5j6+G0rO+zjuH50yVbMA8GA1UdEwEB/wQFMAMBAf8wEwYDVR0l
BAwwCgYIKwYBBQUHAyQwCwYDVR0PBAQDAgMIMAUGAytlcANBACRp9WDjZUL7taXW
Pxs783doqeNXdhwdAv+EEL5d0Z4WrOz046nR6N4LVJEz4J/hycrdYsKOvVrOnOJC
qVnF3A8=
-----END CERTIFICATE-----
)";

class Certificates : public ::testing::Test {
 protected:
  SeededRandom random{11};
  CertificateAuthority ca = *CertificateAuthority::make("Outhaul test CA", {now, authority_lifetime}, random);
  CertificateAuthority other_ca =
      *CertificateAuthority::make("Outhaul test CA", {now, authority_lifetime}, random);
  TlsKey key = *TlsKey::generate();
  SigningKey signing_key = SigningKey::generate(random);
  NodeIdentity identity{"hub.example.org", NodeId::make(now, random)};
  CertificateRequest request = *CertificateRequest::parse_pem(*make_certificate_request(key, "build-7"));

  Certificate node() { return *ca.issue_node(request, identity, week, random); }
  Certificate signing() { return *ca.issue_signing(signing_key.verify_key(), identity, week, random); }
  Certificate server() {
    return *ca.issue_server(key.spki(), {{"node.hub.example.org"}, {"::1"}}, week, random);
  }

  Result<void> verify(const Certificate& certificate, CertificateUse use, WallTime at = now) const {
    return verify_certificate(certificate, {&ca.certificate(), 1}, use, at);
  }
};

std::string reason_of(const Result<void>& result) {
  return result || result.error().details().empty() ? "none" : result.error().details().front().value;
}

// proves A2
TEST_F(Certificates, WhenANodeIsCertified_ThenItsOwnKeyAndItsUriAreInIt) {
  const auto certificate = node();

  EXPECT_EQ(certificate.uri(), identity.uri());
  EXPECT_EQ(certificate.spki(), key.spki());
  EXPECT_TRUE(certificate.ed25519_key().empty());
  EXPECT_FALSE(certificate.is_authority());
  EXPECT_TRUE(verify(certificate, CertificateUse::tls_client).has_value());
}

TEST_F(Certificates, WhenANodeIsCertified_ThenItBeginsAnHourAgoAndEndsWithItsLifetime) {
  const auto certificate = node();

  EXPECT_EQ(certificate.not_before(), now - hours(1));
  EXPECT_EQ(certificate.not_after(), now + hours(24 * 7));
  EXPECT_FALSE(certificate.is_expired_at(certificate.not_after()));
  EXPECT_TRUE(certificate.is_expired_at(certificate.not_after() + seconds(1)));
}

TEST_F(Certificates, WhenTheLifetimePassesTheAuthoritys_ThenItEndsWithTheAuthority) {
  const auto certificate = ca.issue_node(request, identity, {now, hours(24 * 36500)}, random);

  ASSERT_TRUE(certificate.has_value());
  EXPECT_EQ(certificate->not_after(), ca.certificate().not_after());
}

// proves C6
TEST_F(Certificates, WhenASigningKeyIsCertified_ThenItIsForSigningAndNeverForTls) {
  const auto certificate = signing();

  EXPECT_EQ(certificate.ed25519_key(), signing_key.public_key());
  EXPECT_EQ(certificate.uri(), identity.uri());
  EXPECT_TRUE(verify(certificate, CertificateUse::signing).has_value());
  EXPECT_EQ(reason_of(verify(certificate, CertificateUse::tls_client)), "use");
  EXPECT_EQ(reason_of(verify(certificate, CertificateUse::tls_server)), "use");
}

// proves A3
TEST_F(Certificates, WhenAnythingDoesNotHold_ThenTheReasonIsNamed) {
  const auto late = node().not_after() + seconds(1);
  const std::map<std::string, std::pair<Result<void>, std::string>> rows = {
      {"one second before the end",
       {verify(node(), CertificateUse::tls_client, node().not_after() - seconds(1)), "none"}},
      {"one second after the end", {verify(node(), CertificateUse::tls_client, late), "expired"}},
      {"before the hour of grace",
       {verify(node(), CertificateUse::tls_client, now - hours(2)), "not_yet_valid"}},
      {"year 1970", {verify(node(), CertificateUse::tls_client, {}), "not_yet_valid"}},
      {"another CA of the same name",
       {verify_certificate(node(), {&other_ca.certificate(), 1}, CertificateUse::tls_client, now),
        "untrusted"}},
      {"no CA", {verify_certificate(node(), {}, CertificateUse::tls_client, now), "untrusted"}},
      {"a node as server", {verify(node(), CertificateUse::tls_server), "use"}},
      {"a node as signer", {verify(node(), CertificateUse::signing), "use"}},
      {"a server as node", {verify(server(), CertificateUse::tls_client), "use"}},
      {"a server as server", {verify(server(), CertificateUse::tls_server), "none"}},
      {"the CA as node", {verify(ca.certificate(), CertificateUse::tls_client), "use"}},
      {"an expired signer", {verify(signing(), CertificateUse::signing, late), "expired"}},
  };
  for (const auto& [name, row] : rows) {
    SCOPED_TRACE(name);
    EXPECT_EQ(reason_of(row.first), row.second);
    if (!row.first) EXPECT_EQ(row.first.error().code(), ErrorCode::certificate_invalid);
  }
}

TEST_F(Certificates, WhenALeafPlaysTheAuthority_ThenNothingItIssuedIsTrusted) {
  const auto leaf = node();

  const auto loaded = CertificateAuthority::load(leaf.pem(), key.pem());
  const auto trusted = verify_certificate(leaf, {&leaf, 1}, CertificateUse::tls_client, now);

  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code(), ErrorCode::certificate_invalid);
  EXPECT_EQ(reason_of(trusted), "untrusted");
}

TEST(CertificateUses, WhenExtensionsAndKindOfKeyDisagree_ThenItIsForNothing) {
  const CertificateUse uses[] = {CertificateUse::tls_server, CertificateUse::tls_client,
                                 CertificateUse::signing};
  for (const char* pem :
       {ed25519_for_tls_with_two_uris, p256_for_signing, ed25519_without_digital_signature}) {
    const auto certificate = Certificate::parse_pem(pem);
    ASSERT_TRUE(certificate.has_value());
    for (const auto use : uses) EXPECT_FALSE(certificate->is_for(use)) << pem << name_of(use);
  }
}

TEST(CertificateUri, WhenThereAreTwo_ThenNoneCounts) {
  EXPECT_EQ(Certificate::parse_pem(ed25519_for_tls_with_two_uris)->uri(), "");
  EXPECT_EQ(Certificate::parse_pem(p256_for_signing)->uri(), "");
}

TEST_F(Certificates, WhenAnyByteIsChanged_ThenItDoesNotParseOrIsNotTrusted) {
  const auto good = node().der();
  for (std::size_t at = 0; at < good.size(); ++at) {
    SCOPED_TRACE(at);
    auto der = good;
    der[at] = static_cast<char>(der[at] ^ 0x01);

    const auto certificate = Certificate::parse_der(der);

    if (certificate) {
      EXPECT_FALSE(verify(*certificate, CertificateUse::tls_client).has_value());
    } else {
      EXPECT_EQ(certificate.error().code(), ErrorCode::certificate_invalid);
    }
  }
}

TEST_F(Certificates, WhenTheDerIsCutOrGrown_ThenItIsInvalid) {
  const auto good = signing().der();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Certificate::parse_der(good.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(Certificate::parse_der(good + '\0').has_value());
  EXPECT_FALSE(Certificate::parse_der(good + good).has_value());
  EXPECT_FALSE(Certificate::parse_der(Bytes(Certificate::max_der_bytes + 1, '\x30')).has_value());
}

TEST_F(Certificates, WhenPemIsWrittenAndRead_ThenTheCertificateIsEqual) {
  const auto certificate = node();

  EXPECT_EQ(*Certificate::parse_pem(certificate.pem()), certificate);
  EXPECT_EQ(*Certificate::parse_pem("\n " + certificate.pem() + "\n"), certificate);
}

TEST_F(Certificates, WhenThePemIsAnythingElse_ThenItIsInvalidAndNotEchoed) {
  const auto good = node().pem();
  const std::map<std::string, std::string> rejected = {
      {"empty", ""},
      {"space", " \n"},
      {"text", "hunter2"},
      {"text before", "hunter2\n" + good},
      {"text after", good + "hunter2"},
      {"two", good + good},
      {"cut", good.substr(0, good.size() - 10)},
      {"another label", *make_certificate_request(key, "build-7")},
      {"trusted label", write_pem_block(node().der(), "TRUSTED CERTIFICATE")},
      {"headers", "-----BEGIN CERTIFICATE-----\nhunter2: x\n\n" + good.substr(good.find('\n') + 1)},
      {"label over other DER", write_pem_block("hunter2", "CERTIFICATE")},
      {"bad base64", std::string(good).replace(40, 1, "*")},
      {"DER", node().der()},
      {"too long", std::string(2U << 20U, '\n')},
  };
  for (const auto& [reason, text] : rejected) {
    SCOPED_TRACE(reason);
    const auto certificate = Certificate::parse_pem(text);
    ASSERT_FALSE(certificate.has_value());
    EXPECT_EQ(certificate.error().code(), ErrorCode::certificate_invalid);
    EXPECT_EQ(certificate.error().what().find("hunter2"), std::string::npos);
  }
}

TEST_F(Certificates, WhenABundleHoldsSeveral_ThenAllAreReadUpToTheLimit) {
  std::string pem;
  for (std::size_t i = 0; i < Certificate::max_bundle; ++i) pem += ca.certificate().pem();

  EXPECT_EQ(Certificate::parse_pem_bundle(pem)->size(), Certificate::max_bundle);
  EXPECT_FALSE(Certificate::parse_pem_bundle(pem + ca.certificate().pem()).has_value());
  EXPECT_FALSE(Certificate::parse_pem_bundle("").has_value());
}

}  // namespace
}  // namespace outhaul::crypto
