#include "tests/sim/sim_deployment.h"

#include "crypto/certificate_request.h"
#include "crypto/statement.h"
#include "hub/nodes/certificate_rules.h"
#include "store/memory_tables.h"
#include "testing/sim_world.h"

namespace outhaul::sim {
namespace {

using testing::SeededRandom;

constexpr std::chrono::hours lifetime{24 * 365};

// When everything was made: an hour before the simulation starts.
WallTime made_at() { return testing::SimWorld().wall_now() - std::chrono::hours(1); }

// ECDSA signatures differ in length, and lengths decide what fits into a message. So one of a fixed length is
// drawn: the certificate's own frame around it is 4 bytes of header and 15 of algorithm and bit string.
constexpr std::size_t signature_frame_bytes = 19;
constexpr std::size_t signature_bytes = 71;

std::size_t tbs_bytes(ByteView der) {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(der[at]));
  };
  return 4 + byte(6) * 256 + byte(7);
}

crypto::CertificateAuthority make_authority() {
  SeededRandom random(1);
  return crypto::CertificateAuthority::make("simulated authority", {made_at(), lifetime}, random).value();
}

crypto::Certificate issue(const crypto::CertificateAuthority& authority, const crypto::SigningKey& key,
                          const crypto::NodeIdentity& identity, std::uint64_t serial_seed) {
  while (true) {
    SeededRandom random(serial_seed);
    auto made = authority.issue_signing(key.verify_key(), identity, {made_at(), lifetime}, random).value();
    if (made.der().size() == tbs_bytes(made.der()) + signature_frame_bytes + signature_bytes) return made;
  }
}

// Its key, like every signature, is of no seed; nothing that is traced depends on its bytes.
crypto::Certificate issue_tls(const crypto::CertificateAuthority& authority,
                              const crypto::NodeIdentity& identity, std::uint64_t serial_seed) {
  SeededRandom random(serial_seed);
  const auto key = crypto::TlsKey::generate().value();
  const auto pem = crypto::make_certificate_request(key, "a machine").value();
  const crypto::Validity validity{testing::SimWorld().wall_now(), SimDeployment::certificate_lifetime};
  return authority.issue_node(crypto::CertificateRequest::parse_pem(pem).value(), identity, validity, random)
      .value();
}

}  // namespace

SimAuthority::SimAuthority() : authority_(make_authority()) {}

crypto::CertificateAuthority SimAuthority::copy() const {
  return crypto::CertificateAuthority::load(authority_.certificate().pem(), authority_.key_pem()).value();
}

Bytes SimIdentity::sign_hello(ByteView challenge_nonce, ByteView hub_spki) const {
  return key_.sign(crypto::hello_statement(challenge_nonce, hub_spki));
}

SimDeployment::SimDeployment(const SimAuthority& authority, std::uint64_t seed, std::size_t nodes)
    : authority_(authority),
      seed_(seed),
      random_(seed),
      signing_key_id_(KeyId::make(made_at(), random_)),
      signing_key_(crypto::SigningKey::generate(random_)),
      account_(AccountId::make(made_at(), random_)) {
  for (std::size_t i = 0; i < nodes; ++i) nodes_.push_back(make_node());
}

const std::string& SimDeployment::name() {
  static const std::string name = "sim.example";
  return name;
}

const Bytes& SimDeployment::spki() {
  static const Bytes spki = "public key of the simulated hub";
  return spki;
}

SimIdentity SimDeployment::make_node() {
  crypto::NodeIdentity identity{name(), NodeId::make(made_at(), random_)};
  auto key = crypto::SigningKey::generate(random_);
  const auto certificate = issue(authority_.authority(), key, identity, seed_);
  auto tls = issue_tls(authority_.authority(), identity, seed_ + 1);
  return {std::move(identity), std::move(key), certificate.der(), std::move(tls)};
}

hub::HubKeys SimDeployment::hub_keys() const {
  SeededRandom random(seed_);
  static_cast<void>(KeyId::make(made_at(), random));
  return {authority_.copy(), signing_key_id_, crypto::SigningKey::generate(random)};
}

std::vector<crypto::TrustedKey> SimDeployment::trusted_keys() const {
  std::vector<crypto::TrustedKey> keys;
  keys.push_back({signing_key_id_, signing_key_.verify_key()});
  return keys;
}

void SimDeployment::fill(store::MemoryStorage& storage) const {
  auto& tables = storage.tables();
  store::AccountRow account;
  account.id = account_;
  account.name = "ann";
  account.created_at = made_at();
  tables.accounts.put(account_, std::move(account));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    store::NodeRow row;
    row.id = nodes_[i].node();
    row.name = "node-" + std::to_string(i + 1);
    row.enrolled_at = made_at();
    row.signing_key = nodes_[i].public_key();
    row.certificate = hub::describe_certificate(nodes_[i].tls_certificate());
    const auto id = row.id;
    tables.nodes.put(id, std::move(row));
  }
  tables.undo.forget();
}

}  // namespace outhaul::sim
