// The carrier that needs nothing but HTTPS: one WebSocket binary message per carrier message, on the port of
// the API (docs/protocol.md, "Carriers").
#pragma once

#include <memory>
#include <string_view>

#include "base/async_clock.h"
#include "base/random.h"
#include "http/client.h"
#include "http/request_context.h"
#include "http/tls_context.h"
#include "http/websocket_codec.h"
#include "transport/carrier.h"

namespace outhaul::transport {

inline constexpr std::string_view tunnel_path = "/api/v1/tunnel";
inline constexpr std::string_view tunnel_subprotocol = "outhaul.v1";

// Over a connection that has been upgraded already.
std::unique_ptr<Carrier> make_websocket_carrier(http::WebSocketRole role, http::UpgradedConnection upgraded,
                                                const Executor& executor);

// The hub: answers the request with 101 and takes its connection. On failure the request was answered; a
// connection that did not come to the node side by SNI, or shows a foreign certificate, is refused.
Task<Result<std::unique_ptr<Carrier>>> accept_websocket_carrier(http::RequestContext& context);

// The node: dials `settings.url` with SNI `settings.server_name` and asks for the tunnel.
//   errors  those of Client::request(), and the hub's own problem when it refused
Task<Result<std::unique_ptr<Carrier>>> dial_websocket_carrier(AsyncClock& clock, Random& random,
                                                              const http::TlsClientContext& tls,
                                                              http::Client::Settings settings);

}  // namespace outhaul::transport
