// EphemeralWatch: removes short-lived nodes that did not say goodbye. How long one is away is measured by the
// hub's steady clock from when this process first saw it away, so neither a clock that is set nor the hub's
// own absence ends anything.
//   runs on  the hub's strand
#pragma once

#include <map>
#include <vector>

#include "hub/audit/hub_audit.h"
#include "hub/hub_settings.h"
#include "hub/nodes/node_registry.h"
#include "hub/nodes/node_service.h"

namespace outhaul::hub {

class EphemeralWatch {
 public:
  // All outlive the watch.
  struct Needs {
    const HubSettings& settings;
    const NodeRegistry& registry;
    NodeService& nodes;
    HubAudit& audit;
  };
  EphemeralWatch(const HubPorts& ports, const Needs& needs)
      : clock_(ports.clock), log_(ports.log), needs_(needs) {}

  // Looks several times in `ephemeral_lost_after`, until cancelled.
  Task<void> run();

 private:
  struct Absence {
    TimePoint since;
    WallTime last_seen_at;  // another one: it was here in between
  };
  std::vector<NodeId> find_overdue();
  Task<void> remove(NodeId node);

  AsyncClock& clock_;
  const Log& log_;
  const Needs needs_;
  std::map<NodeId, Absence> away_;
};

}  // namespace outhaul::hub
