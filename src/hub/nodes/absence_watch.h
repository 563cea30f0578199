// AbsenceWatch: gives up what a node holds once the node has stayed away for so long that nobody waits for it
// any more. A lost link alone proves nothing (docs/decisions/0031), so the limit is long and the hub's own
// absence does not count.
//   runs on  the hub's strand
#pragma once

#include "base/log.h"
#include "hub/hub_settings.h"
#include "hub/nodes/node_registry.h"
#include "hub/tasks/dispatcher.h"

namespace outhaul::hub {

class AbsenceWatch {
 public:
  // All outlive the watch.
  struct Needs {
    const HubSettings& settings;
    const NodeRegistry& registry;
    const TaskBoard& board;
    Dispatcher& dispatcher;
    const TaskSigner& signer;  // knows the epoch
  };
  AbsenceWatch(const HubPorts& ports, const Needs& needs);

  // Looks at least once a minute, until cancelled.
  Task<void> run();

 private:
  bool has_given_up(const NodeRecord& record) const;

  AsyncClock& clock_;
  const Log& log_;
  Needs needs_;
  TimePoint waiting_since_;  // nodes had no hub to come to before
};

}  // namespace outhaul::hub
