#include "crypto/signing_key.h"

#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <string>

#include "crypto/tls_key.h"
#include "testing/seeded_random.h"

namespace outhaul::crypto {
namespace {

using outhaul::testing::SeededRandom;

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (; hex.size() >= 2; hex.remove_prefix(2)) {
    unsigned value = 0;
    std::from_chars(hex.data(), hex.data() + 2, value, 16);
    bytes.push_back(static_cast<char>(value));
  }
  return bytes;
}

// Gives a published private key.
class PublishedSeed final : public Random {
 public:
  explicit PublishedSeed(ByteView hex) : seed_(from_hex(hex)) {}
  Bytes bytes(std::size_t count) override {
    EXPECT_EQ(count, seed_.size());
    return seed_;
  }

 private:
  Bytes seed_;
};

std::string pem_text(const Secret& pem) { return std::string(pem.reveal_for("test")); }

struct PublishedSignature {
  const char* name;
  const char* seed;
  const char* public_key;
  const char* message;
  const char* signature;
};

// RFC 8032, 7.1
constexpr PublishedSignature published_signatures[] = {
    {"TEST 1", "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
     "d25bf5f0595bbe24655141438e7a100b"},
    {"TEST 2", "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
     "387b2eaeb4302aeeb00d291612bb0c00"},
    {"TEST 3", "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
     "4a7c15e9716ed28dc027beceea1ec40a"},
    {"TEST SHA(abc)", "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
     "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
     "454d4423643ce80e2a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
     "3dca179c138ac17ad9bef1177331a704"},
};

// The same signature with the group's order added to its second half: the equation still holds.
Bytes add_order(Bytes signature) {
  static const Bytes order = from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  unsigned carry = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& digit = signature[order.size() + i];
    carry += static_cast<unsigned char>(digit) + static_cast<unsigned char>(order[i]);
    digit = static_cast<char>(carry & 0xffU);
    carry >>= 8U;
  }
  return signature;
}

TEST(SigningKey, WhenMadeFromAPublishedSeed_ThenKeyAndSignatureAreThePublishedOnes) {
  for (const auto& row : published_signatures) {
    SCOPED_TRACE(row.name);
    PublishedSeed random(row.seed);
    const auto message = from_hex(row.message);

    const auto key = SigningKey::generate(random);

    EXPECT_EQ(to_hex(key.public_key()), row.public_key);
    EXPECT_EQ(to_hex(key.sign(message)), row.signature);
    EXPECT_TRUE(key.verify_key().verify(message, key.sign(message)));
  }
}

TEST(VerifyKey, WhenASignatureIsWrittenInAnotherForm_ThenItDoesNotHold) {
  for (const auto& row : published_signatures) {
    SCOPED_TRACE(row.name);
    const auto key = VerifyKey::parse(from_hex(row.public_key)).value();
    const auto message = from_hex(row.message);
    const auto signature = from_hex(row.signature);

    ASSERT_TRUE(key.verify(message, signature));
    EXPECT_FALSE(key.verify(message, add_order(signature)));
    EXPECT_FALSE(key.verify(message, signature.substr(0, 32) + Bytes(32, '\0')));
    EXPECT_FALSE(key.verify(message, signature.substr(0, 32) + Bytes(32, '\xff')));
    EXPECT_FALSE(key.verify(message, "\x01" + Bytes(31, '\0') + signature.substr(32)));
    EXPECT_FALSE(key.verify(message, Bytes(64, '\0')));
  }
}

// With such a key a signature can hold for every message.
TEST(VerifyKey, WhenTheKeyIsNoneThatAnybodyCanHaveDrawn_ThenItIsInvalid) {
  const std::map<std::string, const char*> rejected = {
      {"order 1", "0100000000000000000000000000000000000000000000000000000000000000"},
      {"order 1, sign bit", "0100000000000000000000000000000000000000000000000000000000000080"},
      {"order 2", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
      {"order 2, sign bit", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
      {"order 4", "0000000000000000000000000000000000000000000000000000000000000000"},
      {"order 4, sign bit", "0000000000000000000000000000000000000000000000000000000000000080"},
      {"order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"},
      {"order 8, sign bit", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"},
      {"another of order 8", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"},
      {"another of order 8, sign bit", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"},
      {"order 4, not reduced", "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
      {"order 1, not reduced", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
      {"not reduced", "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"},
      {"no point", "0200000000000000000000000000000000000000000000000000000000000000"},
      {"all ones", "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
  };
  for (const auto& [reason, hex] : rejected) {
    SCOPED_TRACE(reason);
    const auto key = VerifyKey::parse(from_hex(hex));
    ASSERT_FALSE(key.has_value());
    EXPECT_EQ(key.error().code(), ErrorCode::invalid);
  }
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
