#include "node/enrolment/identity.h"

#include <filesystem>

#include "crypto/data_files.h"
#include "crypto/node_identity.h"
#include "crypto/statement.h"
#include "node/enrolment/enrolment_json.h"

namespace outhaul::node {
namespace {

constexpr const char* identity_file = "identity.json";
constexpr const char* left_file = "identity-left.json";
constexpr const char* tls_key_file = "tls.key";
constexpr const char* tls_chain_file = "tls.pem";
constexpr const char* signing_key_file = "signing.key";
constexpr const char* signing_certificate_file = "signing.pem";
constexpr const char* ca_file = "ca.pem";

constexpr std::size_t max_identity_bytes = 64 * 1024;
constexpr std::size_t max_bundle_bytes =
    crypto::Certificate::max_bundle * 2 * crypto::Certificate::max_der_bytes;

Result<crypto::SigningKey> load_signing_key(const crypto::DataDirectory& directory) {
  OUTHAUL_TRY(pem,
              crypto::read_private_file(directory.file(signing_key_file), crypto::SigningKey::max_pem_bytes));
  return crypto::SigningKey::parse_pem(pem);
}

// Of an enrolment that was begun.
Result<NodeKeys> load_keys(const crypto::DataDirectory& directory) {
  OUTHAUL_TRY(tls_pem,
              crypto::read_private_file(directory.file(tls_key_file), crypto::TlsKey::max_pem_bytes));
  OUTHAUL_TRY(tls, crypto::TlsKey::parse_pem(tls_pem));
  OUTHAUL_TRY(signing, load_signing_key(directory));
  return NodeKeys{std::move(tls), std::move(signing)};
}

// A reply with another node's certificates, or files that were mixed up: neither may pass for an identity.
Result<crypto::Certificate> check_signing_certificate(const crypto::SigningKey& key,
                                                      const Enrolment& enrolment) {
  OUTHAUL_TRY(signing, crypto::Certificate::parse_pem(enrolment.signing_certificate_pem));
  OUTHAUL_CHECK(crypto::Certificate::parse_pem_bundle(enrolment.ca_pem));
  if (signing.ed25519_key() != key.public_key()) {
    return fail(ErrorCode::certificate_invalid, "the node's signing certificate is not for its key");
  }
  return std::move(signing);
}

Result<void> check_certificates(const NodeKeys& keys, const Enrolment& enrolment) {
  OUTHAUL_TRY(chain, crypto::Certificate::parse_pem_bundle(enrolment.chain_pem));
  if (chain.front().spki() != keys.tls.spki()) {
    return fail(ErrorCode::certificate_invalid, "the node's certificate is not for its key");
  }
  OUTHAUL_CHECK(check_signing_certificate(keys.signing, enrolment));
  return {};
}

// The pair of the newest renewal; when that is damaged, the one of the enrolment, which may still renew.
// Loose permissions are never passed over.
Result<TlsPair> load_newest_pair(const crypto::DataDirectory& directory, const Enrolment& enrolment,
                                 std::optional<Error>& damage) {
  auto renewed = load_renewed_pair(directory);
  const crypto::NodeIdentity self{enrolment.deployment, enrolment.node};
  auto enrolled = load_enrolled_pair(directory);
  for (const auto* pair : {&renewed, &enrolled}) {
    if (!*pair && pair->error().code() == ErrorCode::file_permissions_loose) return fail(pair->error());
  }
  if (renewed && renewed->certificate.uri() == self.uri()) return renewed;
  if (renewed) renewed = fail(ErrorCode::certificate_invalid, "renewed.pem names another node");
  if (renewed.error().code() != ErrorCode::not_found) damage = std::move(renewed).error();
  return enrolled;
}

}  // namespace

Result<NodeKeys> prepare_keys(const crypto::DataDirectory& directory, Random& random) {
  if (is_enrolled(directory.path())) {
    return fail(ErrorCode::identity_exists, directory.path().string() + " already holds an identity");
  }
  if (std::error_code ignored; std::filesystem::exists(directory.file(left_file), ignored)) {
    return fail(ErrorCode::identity_exists,
                directory.path().string() + ": its node has left the hub; use another directory");
  }
  auto begun = load_keys(directory);
  if (begun || begun.error().code() != ErrorCode::not_found) return begun;
  OUTHAUL_TRY(tls, crypto::TlsKey::generate());
  NodeKeys keys{std::move(tls), crypto::SigningKey::generate(random)};
  OUTHAUL_CHECK(
      crypto::write_private_file(directory.file(tls_key_file), keys.tls.pem().reveal_for("key file")));
  OUTHAUL_CHECK(crypto::write_private_file(directory.file(signing_key_file),
                                           keys.signing.pem().reveal_for("key file")));
  return keys;
}

Result<void> save_identity(const crypto::DataDirectory& directory, const NodeKeys& keys,
                           const Enrolment& enrolment) {
  OUTHAUL_CHECK(check_certificates(keys, enrolment));
  OUTHAUL_CHECK(crypto::write_private_file(directory.file(tls_chain_file), enrolment.chain_pem));
  OUTHAUL_CHECK(crypto::write_private_file(directory.file(signing_certificate_file),
                                           enrolment.signing_certificate_pem));
  OUTHAUL_CHECK(crypto::write_private_file(directory.file(ca_file), enrolment.ca_pem));
  return crypto::create_private_file(directory.file(identity_file), format_identity(enrolment));
}

Result<void> retire_identity(const crypto::DataDirectory& directory) {
  std::error_code fault;
  // First: without it nothing else in the directory is an identity.
  std::filesystem::rename(directory.file(identity_file), directory.file(left_file), fault);
  if (fault) {
    return fail(ErrorCode::unavailable, directory.file(identity_file).string() + ": " + fault.message());
  }
  std::filesystem::remove(directory.file(signing_key_file), fault);
  if (fault) {
    return fail(ErrorCode::unavailable, directory.file(signing_key_file).string() + ": " + fault.message());
  }
  return remove_tls_keys(directory);
}

bool is_enrolled(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::exists(directory / identity_file, ignored);
}

Result<Identity> Identity::load(const crypto::DataDirectory& directory) {
  auto json = crypto::read_private_file(directory.file(identity_file), max_identity_bytes);
  if (!json && json.error().code() == ErrorCode::not_found) {
    return fail(ErrorCode::not_found,
                directory.path().string() + ": not enrolled; run `outhaul-node enroll` first");
  }
  if (!json) return fail(std::move(json).error());
  OUTHAUL_TRY(enrolment, parse_identity(json->reveal_for("identity")));
  OUTHAUL_TRY(signing_key, load_signing_key(directory));
  std::optional<Error> damage;
  OUTHAUL_TRY(tls, load_newest_pair(directory, enrolment, damage));
  const auto read = [&directory](const char* name) {
    return crypto::read_trusted_file(directory.file(name), max_bundle_bytes);
  };
  OUTHAUL_TRY(signing_pem, read(signing_certificate_file));
  OUTHAUL_TRY(ca, read(ca_file));
  enrolment.chain_pem = tls.chain_pem;
  enrolment.signing_certificate_pem = std::move(signing_pem);
  enrolment.ca_pem = std::move(ca);
  OUTHAUL_TRY(signing, check_signing_certificate(signing_key, enrolment));
  Identity identity(std::move(tls), std::move(signing_key), std::move(enrolment), std::move(signing));
  identity.damage_ = std::move(damage);
  return identity;
}

std::vector<crypto::TrustedKey> Identity::hub_keys() const {
  std::vector<crypto::TrustedKey> keys;
  for (const auto& each : enrolment_.hub_keys) {
    auto key = crypto::VerifyKey::parse(each.public_key);
    if (key) keys.push_back({each.key_id, std::move(*key)});
  }
  return keys;
}

Bytes Identity::sign_hello(ByteView challenge_nonce, ByteView hub_spki) const {
  return signing_.sign(crypto::hello_statement(challenge_nonce, hub_spki));
}

Bytes Identity::sign_renewal(ByteView request_pem) const {
  return signing_.sign(crypto::renewal_statement(tls_.certificate.der(), request_pem));
}

Bytes Identity::sign_leave() const { return signing_.sign(crypto::leave_statement(tls_.certificate.der())); }

}  // namespace outhaul::node
