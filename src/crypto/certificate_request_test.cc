#include "crypto/certificate_request.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "crypto/pem.h"

namespace outhaul::crypto {
namespace {

// Made with `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:secp384r1 -subj /CN=node`.
constexpr const char* p384_request = R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBCDCBjgIBADAPMQ0wCwYDVQQDDARub2RlMHYwEAYHKoZIzj0CAQYFK4EEACID
YgAERZylS9T4s3g8o2Kc10VBfFsGlzUSRsOI1fJ7JDUf+KxYqSrlRhs0GJGlVgyZ
wfXdFFj6y5gw3Umx4XJ34wQG/vK47pK4qiPLHqg3goH1WlpPIjg2NPDUNMaJmf/3
SHOaoAAwCgYIKoZIzj0EAwIDaQAwZgIxALIUs+KCWqMTZE8SW/fNlUbUTsTrbncv
eJwHxJzGyt/HPQiak05urFxjr2jlqXy8OgIxAN/MA+DZZm39bYADFV6xUsSXWjhW
CH3rvboFdx38PqHwsJlMF/I90ZYcrrUfVLZgCA==
-----END CERTIFICATE REQUEST-----
)";

constexpr std::string_view label = "CERTIFICATE REQUEST";

// proves A2
TEST(CertificateRequest, WhenMadeByTheHolderOfTheKey_ThenNameAndKeyAreRead) {
  const auto key = TlsKey::generate();

  const auto request = CertificateRequest::parse_pem(*make_certificate_request(*key, "build-7"));

  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->common_name(), "build-7");
  EXPECT_EQ(request->spki(), key->spki());
}

// proves A2
TEST(CertificateRequest, WhenTheKeyIsExchangedForAnothers_ThenThePossessionIsNotProven) {
  const auto mine = TlsKey::generate();
  const auto theirs = TlsKey::generate();
  auto der = parse_pem_blocks(*make_certificate_request(*mine, "build-7"), label, 1)->front();
  der.replace(der.find(mine->spki()), mine->spki().size(), theirs->spki());

  const auto request = CertificateRequest::parse_pem(write_pem_block(der, label));

  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().code(), ErrorCode::certificate_invalid);
}

TEST(CertificateRequest, WhenAnyByteIsChanged_ThenItIsInvalid) {
  const auto key = TlsKey::generate();
  const auto good = parse_pem_blocks(*make_certificate_request(*key, "build-7"), label, 1)->front();
  for (std::size_t at = 0; at < good.size(); ++at) {
    SCOPED_TRACE(at);
    auto der = good;
    der[at] = static_cast<char>(der[at] ^ 0x01);

    const auto request = CertificateRequest::parse_pem(write_pem_block(der, label));

    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().code(), ErrorCode::certificate_invalid);
  }
}

TEST(CertificateRequest, WhenTheTextIsAnythingElse_ThenItIsInvalidAndNotEchoed) {
  const auto good = *make_certificate_request(*TlsKey::generate(), "build-7");
  const auto der = parse_pem_blocks(good, label, 1)->front();
  const std::map<std::string, std::string> rejected = {
      {"empty", ""},
      {"text", "hunter2"},
      {"text before", "hunter2" + good},
      {"text after", good + "hunter2"},
      {"two", good + good},
      {"cut", good.substr(0, good.size() / 2)},
      {"cut DER", write_pem_block(der.substr(0, der.size() - 1), label)},
      {"grown DER", write_pem_block(der + "x", label)},
      {"as a certificate", write_pem_block(der, "CERTIFICATE")},
      {"old label", write_pem_block(der, "NEW CERTIFICATE REQUEST")},
      {"P-384", p384_request},
      {"too long", good + std::string(CertificateRequest::max_pem_bytes, ' ')},
  };
  for (const auto& [reason, text] : rejected) {
    SCOPED_TRACE(reason);
    const auto request = CertificateRequest::parse_pem(text);
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().code(), ErrorCode::certificate_invalid);
    EXPECT_EQ(request.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(CertificateRequest, WhenTheNameIsOdd_ThenNoneIsMade) {
  const auto key = TlsKey::generate();

  for (const auto& name : {std::string(), std::string(65, 'a'), std::string("a\nb"), std::string("a\0b", 3),
                           std::string("b\xc3\xbc")}) {
    const auto request = make_certificate_request(*key, name);
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().code(), ErrorCode::invalid);
  }
  EXPECT_TRUE(make_certificate_request(*key, std::string(64, 'a')).has_value());
}

}  // namespace
}  // namespace outhaul::crypto
