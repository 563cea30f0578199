#include "crypto/envelope.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "crypto/statement.h"
#include "testing/seeded_random.h"

namespace outhaul::crypto {
namespace {

using outhaul::testing::SeededRandom;

constexpr std::string_view task_type = "application/vnd.outhaul.task.v1+protobuf";

class Envelope : public ::testing::Test {
 protected:
  SeededRandom random{7};
  SigningKey key = SigningKey::generate(random);
  SigningKey stranger = SigningKey::generate(random);
  KeyId key_id = KeyId::make({}, random);
  KeyId other_id = KeyId::make({}, random);

  std::vector<TrustedKey> trusted() const {
    std::vector<TrustedKey> keys;
    keys.push_back({other_id, seeded_key(99)});
    keys.push_back({key_id, key.verify_key()});
    return keys;
  }

 private:
  static VerifyKey seeded_key(std::uint64_t seed) {
    SeededRandom drawn(seed);
    return SigningKey::generate(drawn).verify_key();
  }
};

TEST(Pae, WhenEncodingTheSpecificationsExample_ThenItsBytesComeOut) {
  EXPECT_EQ(pae("http://example.com/HelloWorld", "hello world"),
            "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  EXPECT_EQ(pae("", ""), "DSSEv1 0  0 ");
  EXPECT_EQ(pae("t", std::string("\0 2", 3)), std::string("DSSEv1 1 t 3 \0 2", 16));
}

TEST(Pae, WhenBytesMoveFromTypeToPayload_ThenTheEncodingDiffers) {
  EXPECT_NE(pae("ab", "c"), pae("a", "bc"));
  EXPECT_NE(pae("a 1 b", ""), pae("a", "b"));
}

// The expected bytes were checked with `openssl pkeyutl -verify -rawin` over the PAE.
TEST(EnvelopeGolden, WhenSignedWithASeededKey_ThenTheSignatureNeverChanges) {
  SeededRandom random(1);
  const auto key = SigningKey::generate(random);

  const auto envelope =
      sign_envelope(task_type, "payload", KeyId::assume("key_00000000000000000000000000"), key);

  EXPECT_EQ(to_hex(key.public_key()), "4bb675de4f6376ab61737033d701560e4434be1d6736562ae29b8835b763cd24");
  EXPECT_EQ(to_hex(envelope.signatures.at(0).signature),
            "051e87fa323ee0e5eb1662adaae3f6ca3888604ee979489f95e64e1ef123a139"
            "cf565b9a6d3d451e06a09578e7497cf0795e6e83eb9716dc2a126922f0422c05");
}

// proves C6
TEST_F(Envelope, WhenATrustedKeySigned_ThenItsIdIsTold) {
  const auto envelope = sign_envelope(task_type, "payload", key_id, key);

  const auto holder = verify_envelope(envelope, task_type, trusted());

  ASSERT_TRUE(holder.has_value());
  EXPECT_EQ(*holder, key_id);
}

// proves C6
TEST_F(Envelope, WhenAnythingIsTamperedWith_ThenNoSignatureHolds) {
  using Change = std::function<void(SignedEnvelope&)>;
  const std::map<std::string, Change> changes = {
      {"payload byte", [](auto& e) { e.payload[0] ^= 1; }},
      {"payload grown", [](auto& e) { e.payload += '\0'; }},
      {"payload cut", [](auto& e) { e.payload.pop_back(); }},
      {"signature byte", [](auto& e) { e.signatures[0].signature[63] ^= 1; }},
      {"signature cut", [](auto& e) { e.signatures[0].signature.pop_back(); }},
      {"signature empty", [](auto& e) { e.signatures[0].signature.clear(); }},
      {"no signatures", [](auto& e) { e.signatures.clear(); }},
      {"another type", [](auto& e) { e.payload_type = "application/vnd.outhaul.receipt.v1+protobuf"; }},
      {"type grown", [](auto& e) { e.payload_type += ' '; }},
      {"key id unknown", [](auto& e) { e.signatures[0].key_id = "key_0000000000000000000000000z"; }},
      {"key id empty", [](auto& e) { e.signatures[0].key_id.clear(); }},
      {"another trusted key's id", [&](auto& e) { e.signatures[0].key_id = other_id.text(); }},
      {"stranger's signature",
       [&](auto& e) { e.signatures[0].signature = stranger.sign(pae(e.payload_type, e.payload)); }},
      {"signed without PAE", [&](auto& e) { e.signatures[0].signature = key.sign(e.payload); }},
      {"too many signatures",
       [](auto& e) { e.signatures.resize(SignedEnvelope::max_signatures + 1, e.signatures[0]); }},
  };
  for (const auto& [reason, change] : changes) {
    SCOPED_TRACE(reason);
    auto envelope = sign_envelope(task_type, "payload", key_id, key);

    change(envelope);
    const auto holder = verify_envelope(envelope, task_type, trusted());

    ASSERT_FALSE(holder.has_value());
    EXPECT_EQ(holder.error().code(), ErrorCode::task_signature_invalid);
  }
}

TEST_F(Envelope, WhenTheReaderExpectsAnotherType_ThenAGoodSignatureIsRefused) {
  const auto envelope = sign_envelope("application/vnd.outhaul.receipt.v1+protobuf", "payload", key_id, key);

  EXPECT_FALSE(verify_envelope(envelope, task_type, trusted()).has_value());
}

TEST_F(Envelope, WhenNoKeyIsTrusted_ThenNothingHolds) {
  const auto envelope = sign_envelope(task_type, "payload", key_id, key);

  EXPECT_FALSE(verify_envelope(envelope, task_type, {}).has_value());
}

TEST_F(Envelope, WhenOneOfSeveralSignaturesHolds_ThenItsIdIsTold) {
  auto envelope = sign_envelope(task_type, "payload", key_id, key);
  envelope.signatures.insert(envelope.signatures.begin(), {"key_unknown", "x"});

  const auto holder = verify_envelope(envelope, task_type, trusted());

  ASSERT_TRUE(holder.has_value());
  EXPECT_EQ(*holder, key_id);
}

TEST(Statement, WhenAnyPartOrThePurposeDiffers_ThenTheBytesDiffer) {
  const auto hello = hello_statement("nonce", "spki");

  EXPECT_NE(hello, hello_statement("nonces", "pki"));
  EXPECT_NE(hello, hello_statement("nonce", "other"));
  EXPECT_NE(hello, enrolment_statement("nonce", "spki"));
  EXPECT_NE(hello, renewal_statement("nonce", "spki"));
  EXPECT_NE(enrolment_statement("nonce", "spki"), renewal_statement("nonce", "spki"));
  EXPECT_EQ(hello, hello_statement("nonce", "spki"));
}

TEST(Statement, WhenTheProofNamesAToken_ThenItDoesNotCarryIt) {
  EXPECT_EQ(enrolment_statement("ohe_hunter2", "csr").find("hunter2"), Bytes::npos);
}

}  // namespace
}  // namespace outhaul::crypto
