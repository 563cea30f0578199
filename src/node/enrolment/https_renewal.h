// HttpsRenewal: a CertificateRenewal over the hub's HTTPS interface, into the node's data directory.
#pragma once

#include "base/async_clock.h"
#include "http/tls_context.h"
#include "http/uri.h"
#include "node/enrolment/certificate_renewal.h"
#include "node/enrolment/identity.h"

namespace outhaul::node {

class HttpsRenewal final : public CertificateRenewal {
 public:
  // All outlive it. `tls` is what the dialer shows: it is given each new certificate.
  struct Ports {
    AsyncClock& clock;
    const crypto::DataDirectory& directory;
    Identity& identity;
    http::TlsClientContext& tls;
  };
  HttpsRenewal(const Ports& ports, http::Url hub) : ports_(ports), hub_(std::move(hub)) {}

  CertificateLife life() const override;
  Task<Result<CertificateLife>> renew() override;

 private:
  Task<Result<Bytes>> ask(std::string request_pem);

  Ports ports_;
  http::Url hub_;
};

// What the hub answered to a request for `key`: {"chain": …} (docs/openapi.json, Renewal).
//   errors  invalid: no such JSON. certificate_invalid: not for this key and this node, or not of its CA
Result<TlsPair> parse_renewal_answer(ByteView json, crypto::TlsKey key, const Enrolment& enrolment);

}  // namespace outhaul::node
