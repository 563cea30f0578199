// A deployment's authority and its signing keys, made from a seed. For tests only: everything is
// predictable and the authority lives in the test.
#pragma once

#include <string>
#include <utility>

#include "crypto/certificate_authority.h"
#include "crypto/statement.h"
#include "testing/manual_clock.h"
#include "testing/seeded_random.h"
#include "wire/session.h"

namespace outhaul::testing {

// A node's certified signing key.
class TestNodeKeys final : public wire::HelloSigner {
 public:
  TestNodeKeys(crypto::NodeIdentity identity, crypto::SigningKey key, Bytes certificate)
      : identity_(std::move(identity)), key_(std::move(key)), certificate_(std::move(certificate)) {}

  Bytes sign_hello(ByteView challenge_nonce, ByteView hub_spki) const override {
    return key_.sign(crypto::hello_statement(challenge_nonce, hub_spki));
  }
  const crypto::SigningKey& signing_key() const override { return key_; }
  const Bytes& signing_certificate() const override { return certificate_; }
  const crypto::NodeIdentity& identity() const { return identity_; }

 private:
  crypto::NodeIdentity identity_;
  crypto::SigningKey key_;
  Bytes certificate_;
};

class TestDeployment {
 public:
  explicit TestDeployment(std::uint64_t seed = 1, std::string name = "example.org")
      : random_(seed), name_(std::move(name)), authority_(make_authority(random_)) {}

  const std::string& name() const { return name_; }
  const crypto::Certificate& certificate() const { return authority_.certificate(); }
  SeededRandom& random() { return random_; }
  template <class Id>
  Id make_id() {
    return Id::make(ManualClock::default_start, random_);
  }
  // A fresh node of this deployment, certified for `lifetime` from the manual clock's start.
  TestNodeKeys make_node(std::chrono::seconds lifetime = std::chrono::hours(24)) {
    crypto::NodeIdentity identity{name_, make_id<NodeId>()};
    auto key = crypto::SigningKey::generate(random_);
    const crypto::Validity validity{ManualClock::default_start, lifetime};
    const auto certificate = authority_.issue_signing(key.verify_key(), identity, validity, random_).value();
    return {std::move(identity), std::move(key), certificate.der()};
  }

 private:
  static crypto::CertificateAuthority make_authority(Random& random) {
    const crypto::Validity validity{ManualClock::default_start, std::chrono::hours(24 * 365)};
    return crypto::CertificateAuthority::make("test authority", validity, random).value();
  }
  SeededRandom random_;
  std::string name_;
  crypto::CertificateAuthority authority_;
};

}  // namespace outhaul::testing
