#include "main/websocket_dialer.h"

#include "transport/websocket_carrier.h"

namespace outhaul {

Task<Result<std::unique_ptr<transport::Carrier>>> WebSocketDialer::dial() {
  http::Client::Settings settings;
  settings.url = hub_;
  settings.server_name = server_name_;
  co_return co_await transport::dial_websocket_carrier(clock_, random_, tls_, std::move(settings));
}

}  // namespace outhaul
