// CertificateAuthority: the deployment's own P-256 CA. It issues three kinds of certificate and no other
// authorities (decisions/0005). Runs on any one thread at a time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/secret.h"
#include "crypto/certificate.h"
#include "crypto/certificate_request.h"
#include "crypto/fingerprint.h"
#include "crypto/node_identity.h"
#include "crypto/signing_key.h"
#include "crypto/tls_key.h"

namespace outhaul::crypto {

// From `now` minus certificate_backdate, so that a slow clock takes it at once, to `now` plus `lifetime`,
// but never beyond the authority's own end. Whole seconds.
struct Validity {
  WallTime now;
  std::chrono::seconds lifetime;
};
inline constexpr std::chrono::hours certificate_backdate{1};
inline constexpr std::chrono::hours node_certificate_lifetime{24 * 7};
inline constexpr std::chrono::hours authority_lifetime{24 * 3650};

// Who a server certificate speaks for; at least one name in all.
struct ServerNames {
  std::vector<std::string> dns;  // lower case; "*" is not allowed
  std::vector<std::string> ips;  // "127.0.0.1", "::1"
};

class CertificateAuthority {
 public:
  // `common_name` by is_common_name, else `invalid`. `random` draws the serial number.
  static Result<CertificateAuthority> make(std::string_view common_name, Validity validity, Random& random);
  // Fails with `certificate_invalid` when the certificate is no authority's or not of this key.
  static Result<CertificateAuthority> load(ByteView certificate_pem, const Secret& key_pem);

  const Certificate& certificate() const { return certificate_; }
  Secret key_pem() const { return key_.pem(); }
  Fingerprint fingerprint() const { return Fingerprint::of_spki(certificate_.spki()); }

  // The public key is the one of `spki`, usually TlsKey::spki(). Fails with `invalid` for a bad name or key.
  Result<Certificate> issue_server(ByteView spki, const ServerNames& names, Validity validity,
                                   Random& random) const;
  // Names the node by its URI (and its id as common name); what the request calls itself is not copied.
  Result<Certificate> issue_node(const CertificateRequest& request, const NodeIdentity& identity,
                                 Validity validity, Random& random) const;
  // Certifies the node's Ed25519 key, for envelopes and Hello. Cannot be used for TLS.
  Result<Certificate> issue_signing(const VerifyKey& key, const NodeIdentity& identity, Validity validity,
                                    Random& random) const;

 private:
  CertificateAuthority(Certificate certificate, TlsKey key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}
  Certificate certificate_;
  TlsKey key_;
};

}  // namespace outhaul::crypto
