// WebSocketDialer: a node's CarrierDialer over WebSocket on TLS, to the hub that it enrolled with.
#pragma once

#include "base/async_clock.h"
#include "base/random.h"
#include "http/tls_context.h"
#include "http/uri.h"
#include "node/carrier_dialer.h"

namespace outhaul {

class WebSocketDialer final : public node::CarrierDialer {
 public:
  // Clock, random and tls outlive it. `server_name` is the SNI of the node side.
  WebSocketDialer(AsyncClock& clock, Random& random, const http::TlsClientContext& tls, http::Url hub,
                  std::string server_name)
      : clock_(clock),
        random_(random),
        tls_(tls),
        hub_(std::move(hub)),
        server_name_(std::move(server_name)) {}

  Task<Result<std::unique_ptr<transport::Carrier>>> dial() override;

 private:
  AsyncClock& clock_;
  Random& random_;
  const http::TlsClientContext& tls_;
  http::Url hub_;
  std::string server_name_;
};

}  // namespace outhaul
