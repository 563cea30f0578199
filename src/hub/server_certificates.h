// ServerCertificates: what the hub's port shows. Made at start, and made again when two thirds of their life
// have passed: later handshakes see the new ones, connections that stand are not touched.
//   runs on  the strand that accepts connections
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/async_clock.h"
#include "base/log.h"
#include "base/random.h"
#include "crypto/certificate_authority.h"
#include "http/tls_context.h"

namespace outhaul::hub {

class ServerCertificates {
 public:
  static constexpr Duration look_interval = std::chrono::hours(1);

  struct Ports {
    AsyncClock& clock;
    Random& random;
    const Log& log;
  };
  struct Settings {
    std::string deployment;
    std::vector<std::string> more_names;  // of the people's side
    // The operator's own certificate for the people's side; empty: the authority gives one. Asked again at
    // every look, for somebody else renews it.
    std::function<Result<http::TlsIdentity>()> people;
  };
  ServerCertificates(const Ports& ports, Settings settings) : ports_(ports), settings_(std::move(settings)) {}

  // Errors of the operator's source, and certificate_invalid.
  Result<http::TlsServerContext> make(const crypto::CertificateAuthority& authority);
  // Looks at once, then after every look_interval, until cancelled. Both outlive it.
  Task<void> keep_fresh(http::TlsServerContext& tls, const crypto::CertificateAuthority& authority);
  // One look. What fails is logged and tried again at the next.
  void refresh(http::TlsServerContext& tls, const crypto::CertificateAuthority& authority);

 private:
  Result<http::TlsIdentity> issue_node(const crypto::CertificateAuthority& authority);
  Result<http::TlsIdentity> find_people(const crypto::CertificateAuthority& authority);
  Result<void> renew_own(http::TlsServerContext& tls, const crypto::CertificateAuthority& authority);
  Result<void> renew_operators(http::TlsServerContext& tls);

  Ports ports_;
  Settings settings_;
  WallTime issued_at_;
  Bytes operators_chain_;
};

}  // namespace outhaul::hub
