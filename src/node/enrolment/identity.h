// Identity: what an enrolled node is, in its data directory. Private keys are made here and never leave.
//
//   identity.json  node id, name, deployment, hub, the hub's signing keys; written last: without it the
//                  directory holds no identity
//   signing.key, signing.pem, ca.pem; the TLS key and certificate: tls_pair.h
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/secret.h"
#include "crypto/certificate.h"
#include "crypto/data_directory.h"
#include "crypto/envelope.h"
#include "crypto/signing_key.h"
#include "crypto/tls_key.h"
#include "node/enrolment/tls_pair.h"
#include "wire/session.h"

namespace outhaul::node {

// What the hub answered to an enrolment.
struct Enrolment {
  NodeId node;
  std::string name;
  std::string deployment;
  std::string hub;  // https://host:port, as dialled
  Bytes chain_pem;
  Bytes signing_certificate_pem;
  Bytes ca_pem;
  struct HubKey {
    KeyId key_id;
    Bytes public_key;
  };
  std::vector<HubKey> hub_keys;
};

// The two private keys of a node.
struct NodeKeys {
  crypto::TlsKey tls;
  crypto::SigningKey signing;
};

// Whether the directory holds an identity, whole or not.
bool is_enrolled(const std::filesystem::path& directory);
// Those of an enrolment that was begun and got no answer, or fresh ones, written down before anyone hears
// of them: the hub gives the same answer to the same keys, so a lost reply strands nobody.
//   errors  identity_exists: the directory holds an identity, which is never replaced silently, or held one
//           that left its hub
Result<NodeKeys> prepare_keys(const crypto::DataDirectory& directory, Random& random);
// Writes an identity down. Fails as write_private_file, and with certificate_invalid when the certificates
// are not for these keys.
Result<void> save_identity(const crypto::DataDirectory& directory, const NodeKeys& keys,
                           const Enrolment& enrolment);

// The node has left its hub: nothing of the directory can be shown to it again. Private keys go; what was run
// and the audit log stay. No node is made in such a directory any more.
Result<void> retire_identity(const crypto::DataDirectory& directory);

class Identity final : public wire::HelloSigner {
 public:
  // With the newest TLS pair that is whole. Fails with not_found (not enrolled), file_permissions_loose,
  // certificate_invalid, store_corrupt.
  static Result<Identity> load(const crypto::DataDirectory& directory);

  const Enrolment& enrolment() const { return enrolment_; }
  std::vector<crypto::TrustedKey> hub_keys() const;
  Secret tls_key_pem() const { return tls_.key.pem(); }
  const Bytes& chain_pem() const { return tls_.chain_pem; }
  // What TLS shows.
  const crypto::Certificate& certificate() const { return tls_.certificate; }
  // Why the newest pair was passed over for an older one; empty when it was not.
  const std::optional<Error>& damage() const { return damage_; }
  // A renewed pair, already written down.
  void use(TlsPair pair) { tls_ = std::move(pair); }

  Bytes sign_hello(ByteView challenge_nonce, ByteView hub_spki) const override;
  const crypto::SigningKey& signing_key() const override { return signing_; }
  const Bytes& signing_certificate() const override { return signing_certificate_.der(); }
  // The proof of a renewal: crypto::renewal_statement over the present certificate and this request.
  Bytes sign_renewal(ByteView request_pem) const;
  // The proof of a leave: crypto::leave_statement over the present certificate.
  Bytes sign_leave() const;

 private:
  Identity(TlsPair tls, crypto::SigningKey signing, Enrolment enrolment,
           crypto::Certificate signing_certificate)
      : tls_(std::move(tls)),
        signing_(std::move(signing)),
        enrolment_(std::move(enrolment)),
        signing_certificate_(std::move(signing_certificate)) {}
  TlsPair tls_;
  crypto::SigningKey signing_;
  Enrolment enrolment_;
  crypto::Certificate signing_certificate_;
  std::optional<Error> damage_;
};

}  // namespace outhaul::node
