// RenewalService: gives an enrolled node its next TLS certificate, and asks it to take one.
//   runs on  the hub's strand
#pragma once

#include <string>

#include "hub/audit/hub_audit.h"
#include "hub/hub_keys.h"
#include "hub/hub_ports.h"
#include "hub/hub_settings.h"
#include "hub/nodes/node_registry.h"
#include "store/database.h"

namespace outhaul::hub {

// What a node sends over a connection on which it proved to hold the key of `certificate_der`.
struct RenewalRequest {
  Bytes certificate_der;     // of the connection; within its dates or past them
  std::string csr_pem;       // for the next key
  Bytes proof;               // by the node's signing key, over crypto::renewal_statement
  std::string address = {};  // where the connection comes from, for the audit log
};

class RenewalService {
 public:
  struct Needs {
    const HubSettings& settings;
    const HubKeys& keys;
    NodeRegistry& registry;
    HubAudit& audit;
  };
  RenewalService(const HubPorts& ports, const Needs& needs);

  // Gives the answer as JSON (docs/openapi.json, Renewal). Asking again for the same key is harmless.
  //   errors  node_removed; node_unknown. certificate_invalid: the certificate, the request or the
  //   proof
  //           does not hold, or judge_renewal() refuses
  Task<Result<Bytes>> renew(RenewalRequest request);

  // The node's TLS keys may be in other hands. From its next renewal on, which it is asked for at once, all
  // its older certificates are refused. Gives the node's id. not_found.
  Task<Result<NodeId>> rotate(std::string id_or_name);
  // To a node that has just attached: asks it for a renewal when a rotation is due.
  void remind(NodeLink& node) const;

 private:
  struct Candidate;
  Task<Error> why_gone(const RenewalRequest& request);
  Result<Candidate> examine(const RenewalRequest& request) const;
  Result<Bytes> issue(Candidate& candidate);
  Task<Result<void>> write_down(const Candidate& candidate);
  void note_renewed(const Candidate& candidate, const std::string& address);
  void note_refused(const RenewalRequest& request, const Error& reason);

  AsyncClock& clock_;
  Random& random_;
  store::Database& database_;
  const Log& log_;
  const Needs needs_;
};

}  // namespace outhaul::hub
