#include "transport/websocket_carrier.h"

#include <boost/asio/this_coro.hpp>

#include "crypto/certificate.h"
#include "http/websocket.h"
#include "http/websocket_handshake.h"
#include "wire/frame.h"

namespace outhaul::transport {
namespace {

constexpr std::size_t websocket_key_bytes = 16;

CarrierPeer describe(http::WebSocketRole role, const http::PeerFacts& facts) {
  CarrierPeer peer{.tls_uri = {}, .hub_spki = facts.server_spki_der, .address = facts.address};
  // Empty for a foreign certificate; one that has ended is told from a stranger's by whoever admits.
  if (role != http::WebSocketRole::server || facts.certificate_der.empty()) return peer;
  const auto certificate = crypto::Certificate::parse_der(facts.certificate_der);
  if (!certificate) return peer;
  peer.tls_uri = certificate->uri();
  peer.certificate = describe_peer_certificate(*certificate);
  return peer;
}

class WebSocketCarrier final : public Carrier {
 public:
  WebSocketCarrier(http::WebSocketRole role, http::UpgradedConnection upgraded, const Executor& executor)
      : peer_(describe(role, upgraded.connection->peer())),
        socket_(role, std::move(upgraded), executor, wire::max_message_bytes) {
    socket_.connection().set_deadline(TimePoint::max());
    socket_.connection().limit_unsent();
  }

  Task<Result<Bytes>> receive() override {
    auto message = co_await socket_.receive();
    if (message && message->empty())
      co_return fail(ErrorCode::protocol_violation, "carrier: an empty message");
    co_return message;
  }
  Task<Result<void>> send(Bytes message) override { co_return co_await socket_.send(message); }
  // The frames above have their own farewell, so the connection's end is enough of one here.
  void close() override { socket_.connection().close(); }
  const CarrierPeer& peer() const override { return peer_; }

 private:
  CarrierPeer peer_;
  http::WebSocket socket_;
};

// TLS chose the side; a request that came in by the other one is told that there is nothing here.
Result<void> check_side(const http::PeerFacts& facts) {
  const bool has_tls = !facts.server_spki_der.empty();
  if (has_tls && !facts.is_node_side) return fail(ErrorCode::not_found, "no such address");
  if (facts.certificate_verdict == http::CertificateVerdict::foreign) {
    return fail(ErrorCode::denied, "the client certificate is not from this hub's authority");
  }
  return {};
}

}  // namespace

std::unique_ptr<Carrier> make_websocket_carrier(http::WebSocketRole role, http::UpgradedConnection upgraded,
                                                const Executor& executor) {
  return std::make_unique<WebSocketCarrier>(role, std::move(upgraded), executor);
}

Task<Result<std::unique_ptr<Carrier>>> accept_websocket_carrier(http::RequestContext& context) {
  if (auto checked = check_side(context.peer()); !checked) {
    co_await context.respond_error(checked.error());
    co_return fail(std::move(checked).error());
  }
  OUTHAUL_CO_TRY(upgraded, co_await http::accept_websocket(context, tunnel_subprotocol));
  const Executor executor = co_await asio::this_coro::executor;
  co_return make_websocket_carrier(http::WebSocketRole::server, std::move(upgraded), executor);
}

Task<Result<std::unique_ptr<Carrier>>> dial_websocket_carrier(AsyncClock& clock, Random& random,
                                                              const http::TlsClientContext& tls,
                                                              http::Client::Settings settings) {
  http::Client client(clock, &tls, std::move(settings));
  http::ClientRequest request;
  request.target = std::string(tunnel_path);
  Bytes key_bytes = random.bytes(websocket_key_bytes);
  OUTHAUL_CO_TRY(upgraded,
                 co_await http::connect_websocket(client, std::move(request), std::string(tunnel_subprotocol),
                                                  std::move(key_bytes)));
  const Executor executor = co_await asio::this_coro::executor;
  co_return make_websocket_carrier(http::WebSocketRole::client, std::move(upgraded), executor);
}

}  // namespace outhaul::transport
