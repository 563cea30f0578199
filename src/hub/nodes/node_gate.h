// NodeGate: whether a node whose Hello holds may have a session, and what it is told. One live session per
// identity.
//   runs on  the hub's strand
#pragma once

#include <map>

#include "hub/audit/hub_audit.h"
#include "hub/hub_keys.h"
#include "hub/hub_ports.h"
#include "hub/nodes/node_registry.h"
#include "hub/nodes/node_session.h"
#include "hub/tasks/task_signer.h"
#include "store/database.h"
#include "transport/tunnel.h"
#include "wire/session_registry.h"

namespace outhaul::hub {

class NodeGate final : public transport::TunnelAdmission {
 public:
  struct Needs {
    const HubKeys& keys;
    const TaskSigner& signer;  // knows the epoch
    NodeRegistry& registry;
    const stream::StreamStore& streams;
    HubAudit& audit;
  };
  NodeGate(const HubPorts& ports, const Needs& needs)
      : executor_(ports.executor),
        clock_(ports.clock),
        random_(ports.random),
        database_(ports.database),
        needs_(needs) {}

  // No more sessions: nodes are told to come back later.
  void begin_drain() { is_draining_ = true; }

  // A session that was admitted has begun, and has ended. In between it can be probed and replaced. False: it
  // was replaced before it began.
  bool enter(NodeSession& session);
  void leave(const NodeSession& session);
  // Ends every session with this reason.
  void close_all(const Error& reason);

  // transport::TunnelAdmission
  //   errors  draining; node_removed; node_unknown; unauthenticated: no TLS identity, or another
  //   signing key
  //           than the enrolled one; certificate_invalid: ended or revoked; duplicate_instance
  Task<Result<v1::Welcome>> admit(const wire::HelloFacts& facts, const transport::CarrierPeer& peer) override;
  void abandon(const wire::HelloFacts& facts, const v1::Welcome& welcome) override;

 private:
  // Of a node in the registry.
  Result<void> check_identity(const wire::HelloFacts& facts, const transport::CarrierPeer& peer) const;
  Task<Result<void>> take_place(const NodeId& node, const wire::Claimant& newcomer);
  Task<bool> is_alive(SessionId session);
  Task<Result<v1::Welcome>> welcome(const wire::HelloFacts& facts, const SessionId& session) const;

  Executor executor_;
  AsyncClock& clock_;
  Random& random_;
  store::Database& database_;
  Needs needs_;
  wire::SessionRegistry places_;
  std::map<SessionId, NodeSession*> sessions_;
  bool is_draining_ = false;
};

}  // namespace outhaul::hub
