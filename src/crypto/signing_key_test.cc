#include "crypto/signing_key.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "crypto/tls_key.h"
#include "testing/seeded_random.h"

namespace outhaul::crypto {
namespace {

using outhaul::testing::SeededRandom;

// Gives the private key of RFC 8032, 7.1, TEST 1.
class PublishedSeed final : public Random {
 public:
  Bytes bytes(std::size_t count) override {
    EXPECT_EQ(count, 32U);
    return {
        "\x9d\x61\xb1\x9d\xef\xfd\x5a\x60\xba\x84\x4a\xf4\x92\xec\x2c\xc4"
        "\x44\x49\xc5\x69\x7b\x32\x69\x19\x70\x3b\xac\x03\x1c\xae\x7f\x60",
        count};
  }
};

std::string pem_text(const Secret& pem) { return std::string(pem.reveal_for("test")); }

TEST(SigningKey, WhenMadeFromThePublishedSeed_ThenKeyAndSignatureAreThePublishedOnes) {
  PublishedSeed random;

  const auto key = SigningKey::generate(random);

  EXPECT_EQ(to_hex(key.public_key()), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(to_hex(key.sign("")),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b");
}

TEST(SigningKey, WhenItSigned_ThenOnlyItsOwnKeyOverTheSameBytesVerifies) {
  SeededRandom random(1);
  const auto key = SigningKey::generate(random);
  const auto other = SigningKey::generate(random);

  const auto signature = key.sign("run uname");

  EXPECT_TRUE(key.verify_key().verify("run uname", signature));
  EXPECT_FALSE(other.verify_key().verify("run uname", signature));
  EXPECT_FALSE(key.verify_key().verify("run uname ", signature));
  EXPECT_FALSE(key.verify_key().verify("", signature));
}

TEST(VerifyKey, WhenAnyBitOfTheSignatureIsChanged_ThenItDoesNotHold) {
  SeededRandom random(2);
  const auto key = SigningKey::generate(random);
  const auto verify_key = key.verify_key();
  const auto signature = key.sign("message");

  for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
    SCOPED_TRACE(bit);
    auto tampered = signature;
    tampered[bit / 8] = static_cast<char>(tampered[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(verify_key.verify("message", tampered));
  }
}

TEST(VerifyKey, WhenTheSignatureHasAnotherLength_ThenItDoesNotHold) {
  SeededRandom random(3);
  const auto key = SigningKey::generate(random);
  const auto signature = key.sign("message");

  for (const auto& wrong : {Bytes(), signature.substr(1), signature + "x", signature + signature}) {
    EXPECT_FALSE(key.verify_key().verify("message", wrong));
  }
}

TEST(VerifyKey, WhenTheRawKeyHasAnotherLength_ThenItIsInvalid) {
  for (const std::size_t size : {0U, 1U, 31U, 33U, 64U, 4096U}) {
    SCOPED_TRACE(size);
    const auto key = VerifyKey::parse(Bytes(size, 'k'));
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code(), ErrorCode::invalid);
  }
}

TEST(VerifyKey, WhenTheRawKeyIsNoPoint_ThenNothingVerifies) {
  const auto key = VerifyKey::parse(Bytes(32, '\xff'));

  if (key.has_value()) {
    EXPECT_FALSE(key->verify("m", Bytes(64, '\0')));
  }
}

TEST(SigningKey, WhenSavedAndLoaded_ThenItSignsAlike) {
  SeededRandom random(4);
  const auto key = SigningKey::generate(random);

  const auto loaded = SigningKey::parse_pem(key.pem());

  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->public_key(), key.public_key());
  EXPECT_EQ(loaded->sign("m"), key.sign("m"));
}

TEST(SigningKey, WhenThePemIsAnythingElse_ThenItIsInvalidAndNotEchoed) {
  SeededRandom random(5);
  const auto good = pem_text(SigningKey::generate(random).pem());
  const auto body = good.substr(good.find('\n') + 1, 40);
  const std::map<std::string, std::string> rejected = {
      {"empty", ""},
      {"no PEM", "hunter2"},
      {"cut", good.substr(0, good.size() / 2)},
      {"no end line", good.substr(0, good.find("-----END"))},
      {"damaged base64", std::string(good).replace(good.find('\n') + 5, 2, "!!")},
      {"another label", "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n"},
      {"P-256", pem_text(TlsKey::generate()->pem())},
      {"too long", good + std::string(SigningKey::max_pem_bytes, '\n')},
      // A pass phrase must never be asked for on a terminal.
      {"encrypted",
       "-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,"
       "00112233445566778899AABBCCDDEEFF\n\n" +
           body + "\n-----END PRIVATE KEY-----\n"},
  };
  for (const auto& [reason, text] : rejected) {
    SCOPED_TRACE(reason);
    const auto key = SigningKey::parse_pem(Secret(text));
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code(), ErrorCode::invalid);
    EXPECT_EQ(key.error().what().find("hunter2"), std::string::npos);
    EXPECT_EQ(key.error().what().find(body.substr(0, 8)), std::string::npos);
  }
}

TEST(TlsKey, WhenSavedAndLoaded_ThenItIsTheSameKey) {
  const auto key = TlsKey::generate();
  ASSERT_TRUE(key.has_value());

  const auto loaded = TlsKey::parse_pem(key->pem());

  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->spki(), key->spki());
}

TEST(TlsKey, WhenThePemHoldsAnotherKind_ThenItIsInvalidAndNotEchoed) {
  SeededRandom random(6);
  const auto ed25519 = pem_text(SigningKey::generate(random).pem());
  for (const auto& text : {std::string(), std::string("hunter2"), ed25519, ed25519.substr(0, 50)}) {
    SCOPED_TRACE(text);
    const auto key = TlsKey::parse_pem(Secret(text));
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code(), ErrorCode::invalid);
    EXPECT_EQ(key.error().what().find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace outhaul::crypto
