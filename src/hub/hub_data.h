// The hub's data directory: what `init` makes once, and what `serve` and `check` read.
//
//   FORMAT, LOCK    crypto/data_directory.h
//   init-begun      while `init` runs: what stands here was never used, and the next `init` starts over
//   hub.json        deployment and the id of the signing key; written last, so that it marks a whole `init`
//   ca.key, ca.pem  the deployment's certificate authority
//   signing.key     signs tasks (Ed25519)
//   hub.db          the database, bound to the deployment
//   streams/        the stream journal and its segments
//   admin-token     the first administrator's API token; to be deleted once it was used
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/secret.h"
#include "crypto/data_directory.h"
#include "crypto/tls_key.h"
#include "hub/hub_keys.h"

namespace outhaul::hub {

inline constexpr std::string_view database_file = "hub.db";
inline constexpr std::string_view streams_directory = "streams";
inline constexpr std::string_view admin_token_file = "admin-token";

// A certificate chain and its key, for one side of the port.
struct ServerIdentity {
  std::string chain_pem;  // leaf, then the CA
  Secret key_pem;
};

struct HubIdentity {
  std::string deployment;
  KeyId signing_key_id;
  crypto::CertificateAuthority authority;
  crypto::SigningKey signing_key;
};

// Makes keys and authority in an empty data directory, or in one whose `init` was cut off: what that left is
// removed. mark_complete() ends it. invalid: the deployment is no DNS name. conflict: there is a hub already,
// or keys of one that has lost its hub.json.
Result<HubIdentity> make_identity(const crypto::DataDirectory& data, const std::string& deployment,
                                  WallTime now, Random& random);
Result<void> mark_complete(const crypto::DataDirectory& data, const HubIdentity& identity);
// The files of load_identity() in the data directory. The last one marks a whole directory.
std::span<const std::string_view> identity_files();
// Whether the next `init` may start over here.
bool is_init_cut_off(const crypto::DataDirectory& data);

// not_found: `init` was not run, or not to its end. file_permissions_loose, certificate_invalid,
// config_invalid: a file is not what was written; the message names it.
Result<HubIdentity> load_identity(const crypto::DataDirectory& data);

// "node.<deployment>": the name that nodes ask for by SNI.
std::string node_side_name(const std::string& deployment);
// Certificates are made at each start, and again while the hub serves (server_certificates.h); only the
// authority's key is kept.
inline constexpr std::chrono::hours server_certificate_lifetime{24 * 30};
Result<ServerIdentity> issue_node_side(const crypto::CertificateAuthority& authority,
                                       const std::string& deployment, WallTime now, Random& random);
// For `names` (the deployment, other DNS names, addresses) and for this machine's own.
Result<ServerIdentity> issue_people_side(const crypto::CertificateAuthority& authority,
                                         const std::vector<std::string>& names, WallTime now, Random& random);

}  // namespace outhaul::hub
