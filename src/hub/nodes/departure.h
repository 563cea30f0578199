// DepartureService: a node that takes itself out of the registry. Nobody else can ask for that in its name,
// and it can ask for itself only.
//   runs on  the hub's strand
#pragma once

#include "hub/audit/hub_audit.h"
#include "hub/hub_settings.h"
#include "hub/nodes/node_registry.h"
#include "hub/nodes/node_service.h"

namespace outhaul::hub {

// What a node sends over a connection on which it proved to hold the key of `certificate_der`.
struct DepartureRequest {
  Bytes certificate_der;     // of the connection
  Bytes proof;               // by the node's signing key, over crypto::leave_statement
  std::string address = {};  // where the connection comes from, for the audit log
};

class DepartureService {
 public:
  struct Needs {
    const HubSettings& settings;
    NodeRegistry& registry;
    NodeService& nodes;
    HubAudit& audit;
  };
  DepartureService(const HubPorts& ports, const Needs& needs)
      : clock_(ports.clock), database_(ports.database), needs_(needs) {}

  // Removes the node. What it had not ended is lost: a node leaves when it has nothing left.
  //   errors  node_removed: it is gone already. node_unknown. certificate_invalid: the certificate or the
  //   proof does not hold
  Task<Result<void>> leave(DepartureRequest request);

 private:
  Result<const NodeRecord*> examine(const DepartureRequest& request) const;

  const Clock& clock_;
  store::Database& database_;
  const Needs needs_;
};

}  // namespace outhaul::hub
