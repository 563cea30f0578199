#include "crypto/certificate_authority.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/seeded_random.h"

namespace outhaul::crypto {
namespace {

using outhaul::testing::SeededRandom;

constexpr WallTime now{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z
constexpr Validity decade{now, authority_lifetime};
constexpr Validity week{now, node_certificate_lifetime};

// proves A3
TEST(CertificateAuthority, WhenMade_ThenItIsAnAuthorityWithTheFingerprintOfItsKey) {
  SeededRandom random(1);

  const auto ca = CertificateAuthority::make("Outhaul hub.example.org", decade, random);

  ASSERT_TRUE(ca.has_value());
  EXPECT_TRUE(ca->certificate().is_authority());
  EXPECT_EQ(ca->certificate().not_after(), now + authority_lifetime);
  EXPECT_EQ(ca->fingerprint(), Fingerprint::of_spki(TlsKey::parse_pem(ca->key_pem())->spki()));
}

TEST(CertificateAuthority, WhenSavedAndLoaded_ThenItIssuesForTheSameAuthority) {
  SeededRandom random(2);
  const auto made = CertificateAuthority::make("CA", decade, random);

  const auto loaded = CertificateAuthority::load(made->certificate().pem(), made->key_pem());

  ASSERT_TRUE(loaded.has_value());
  const auto server = loaded->issue_server(TlsKey::generate()->spki(), {{"localhost"}, {}}, week, random);
  EXPECT_TRUE(
      verify_certificate(*server, {&made->certificate(), 1}, CertificateUse::tls_server, now).has_value());
}

TEST(CertificateAuthority, WhenTheFilesDoNotBelongTogether_ThenItIsNotLoaded) {
  SeededRandom random(3);
  const auto ca = CertificateAuthority::make("CA", decade, random);
  const auto other = CertificateAuthority::make("CA", decade, random);

  const auto mixed = CertificateAuthority::load(ca->certificate().pem(), other->key_pem());
  const auto no_key = CertificateAuthority::load(ca->certificate().pem(), Secret("hunter2"));

  ASSERT_FALSE(mixed.has_value());
  EXPECT_EQ(mixed.error().code(), ErrorCode::certificate_invalid);
  ASSERT_FALSE(no_key.has_value());
  EXPECT_EQ(no_key.error().what().find("hunter2"), std::string::npos);
}

TEST(CertificateAuthority, WhenTheCommonNameIsOdd_ThenNoneIsMade) {
  SeededRandom random(4);

  for (const auto& name : {std::string(), std::string(65, 'c'), std::string("a\nb")}) {
    EXPECT_FALSE(CertificateAuthority::make(name, decade, random).has_value());
  }
}

TEST(IssueServer, WhenANameCouldSmuggleASecondOne_ThenItIsRefused) {
  SeededRandom random(5);
  const auto ca = CertificateAuthority::make("CA", decade, random);
  const auto spki = TlsKey::generate()->spki();
  const ServerNames rejected[] = {
      {{}, {}},
      {{""}, {}},
      {{"*.example.org"}, {}},
      {{"a,DNS:bank.example"}, {}},
      {{"Hub.example"}, {}},
      {{"10.0.0.1"}, {}},
      {{std::string("hub\0.example", 12)}, {}},
      {{"localhost"}, {"localhost"}},
      {{"localhost"}, {"10.0.0.256"}},
      {{"localhost"}, {""}},
      {{}, {"1.2.3.4,DNS:bank.example"}},
  };
  for (const auto& names : rejected) {
    const auto certificate = ca->issue_server(spki, names, week, random);
    ASSERT_FALSE(certificate.has_value());
    EXPECT_EQ(certificate.error().code(), ErrorCode::invalid);
  }
  const ServerNames good{{"node.hub.example.org", std::string(63, 'a') + ".example"}, {"127.0.0.1", "::1"}};
  EXPECT_TRUE(ca->issue_server(spki, good, week, random).has_value());
  EXPECT_TRUE(ca->issue_server(spki, {{}, {"::1"}}, week, random).has_value());
}

TEST(IssueServer, WhenTheKeyIsNotP256_ThenItIsRefused) {
  SeededRandom random(6);
  const auto ca = CertificateAuthority::make("CA", decade, random);
  const auto spki = TlsKey::generate()->spki();
  auto off_curve = spki;
  off_curve.back() = static_cast<char>(off_curve.back() ^ 1);

  for (const auto& wrong : {Bytes(), Bytes("hunter2"), spki.substr(1), spki + "x", off_curve}) {
    const auto certificate = ca->issue_server(wrong, {{"localhost"}, {}}, week, random);
    ASSERT_FALSE(certificate.has_value());
    EXPECT_EQ(certificate.error().code(), ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace outhaul::crypto
