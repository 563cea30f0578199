// SimDeployment: the keys and names of one simulated deployment, decided by a seed. Its authority is made
// once a process: ECDSA signatures are random, so no byte of a certificate may enter a trace or change a
// size.
#pragma once

#include <string>
#include <vector>

#include "crypto/certificate_authority.h"
#include "crypto/envelope.h"
#include "hub/hub_keys.h"
#include "store/memory_database.h"
#include "stream/file_sizes.h"
#include "testing/seeded_random.h"
#include "wire/session.h"

namespace outhaul::sim {

class SimAuthority {
 public:
  SimAuthority();
  const crypto::CertificateAuthority& authority() const { return authority_; }
  // Another object over the same key; each life of a hub owns one.
  crypto::CertificateAuthority copy() const;

 private:
  crypto::CertificateAuthority authority_;
};

// One node's identity, as enrolment would have left it.
class SimIdentity final : public wire::HelloSigner {
 public:
  SimIdentity(crypto::NodeIdentity identity, crypto::SigningKey key, Bytes certificate,
              crypto::Certificate tls_certificate)
      : identity_(std::move(identity)),
        key_(std::move(key)),
        certificate_(std::move(certificate)),
        tls_certificate_(std::move(tls_certificate)) {}

  Bytes sign_hello(ByteView challenge_nonce, ByteView hub_spki) const override;
  const crypto::SigningKey& signing_key() const override { return key_; }
  const Bytes& signing_certificate() const override { return certificate_; }
  const NodeId& node() const { return identity_.node; }
  std::string tls_uri() const { return identity_.uri(); }
  const Bytes& public_key() const { return key_.public_key(); }
  Bytes sign(ByteView statement) const { return key_.sign(statement); }
  // The first one.
  const crypto::Certificate& tls_certificate() const { return tls_certificate_; }

 private:
  crypto::NodeIdentity identity_;
  crypto::SigningKey key_;
  Bytes certificate_;
  crypto::Certificate tls_certificate_;
};

class SimDeployment {
 public:
  // `authority` outlives it.
  SimDeployment(const SimAuthority& authority, std::uint64_t seed, std::size_t nodes);

  static const std::string& name();
  // Short, so that each node renews several times in a run.
  static constexpr std::chrono::seconds certificate_lifetime{240};
  // So that files are begun and rewritten all the time.
  static constexpr stream::FileSizes small_files{.checkpoint_bytes = 16U << 10U,
                                                 .small_stream_bytes = 8U << 10U,
                                                 .segment_bytes = 32U << 10U,
                                                 .audit_file_bytes = 4U << 10U};
  // What nodes see of the hub's certificate.
  static const Bytes& spki();
  const crypto::Certificate& certificate() const { return authority_.authority().certificate(); }
  hub::HubKeys hub_keys() const;
  std::vector<crypto::TrustedKey> trusted_keys() const;
  const crypto::SigningKey& signing_key() const { return signing_key_; }
  const KeyId& signing_key_id() const { return signing_key_id_; }
  const AccountId& account() const { return account_; }
  const std::vector<SimIdentity>& nodes() const { return nodes_; }

  // As `init` and enrolment leave the database.
  void fill(store::MemoryStorage& storage) const;

 private:
  SimIdentity make_node();

  const SimAuthority& authority_;
  std::uint64_t seed_;
  testing::SeededRandom random_;
  KeyId signing_key_id_;
  crypto::SigningKey signing_key_;
  AccountId account_;
  std::vector<SimIdentity> nodes_;
};

}  // namespace outhaul::sim
