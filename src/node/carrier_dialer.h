// CarrierDialer: the port through which a node reaches its hub. Adapters: main (WebSocket over TLS), the
// simulation's network.
#pragma once

#include <memory>

#include "base/error.h"
#include "base/task.h"
#include "transport/carrier.h"

namespace outhaul::node {

class CarrierDialer {
 public:
  virtual ~CarrierDialer() = default;
  // One attempt, within its own limit of time. Cancellation unwinds.
  //   errors  unavailable and deadline_exceeded: try again later; others name what is wrong, and are
  //           tried again too, for an operator may mend them on the hub's side
  virtual Task<Result<std::unique_ptr<transport::Carrier>>> dial() = 0;
};

}  // namespace outhaul::node
