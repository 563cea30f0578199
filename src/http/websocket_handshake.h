// The way from HTTP to WebSocket (RFC 6455, section 4), on both sides.
#pragma once

#include <string>
#include <string_view>

#include "http/client.h"
#include "http/request_context.h"

namespace outhaul::http {

// Server: checks the request and that the client offers `subprotocol`, then upgrades. When it fails, the
// request was answered: 400, or 426 with the version that is spoken here.
Task<Result<UpgradedConnection>> accept_websocket(RequestContext& context, std::string_view subprotocol);

// Client: asks for the upgrade of `request.target` and checks the answer. `key_bytes`: 16 random bytes.
//   errors  those of Client::request(); the hub's own problem when it refused; protocol_violation when
//           the answer is no WebSocket's, such as behind a proxy that strips Upgrade
Task<Result<UpgradedConnection>> connect_websocket(Client& client, ClientRequest request,
                                                   std::string subprotocol, Bytes key_bytes);

// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string websocket_accept_value(std::string_view key);

}  // namespace outhaul::http
