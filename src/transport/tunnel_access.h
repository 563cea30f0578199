// How the handshake makes a Tunnel; nobody else can.
#pragma once

#include <memory>

#include "transport/tunnel.h"

namespace outhaul::transport {

struct TunnelAccess {
  static Tunnel make(std::shared_ptr<TunnelCore> core);
};

}  // namespace outhaul::transport
