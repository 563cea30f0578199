#include "transport/websocket_carrier.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/log.h"
#include "http/server.h"
#include "http/websocket_handshake.h"
#include "testing/manual_clock.h"
#include "testing/memory_connection.h"
#include "testing/run_ready_task.h"

namespace outhaul::transport {
namespace {

using testing::run_ready;
using testing::run_ready_task;

class NoSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

// A hub's server whose tunnel route is the carrier's own; the client's end is in the test's hand.
class TunnelRouteTest : public ::testing::Test {
 protected:
  ~TunnelRouteTest() override { run_ready_task(io_, server_.close()); }

  Task<void> serve(http::RequestContext& context) {
    auto carrier = co_await accept_websocket_carrier(context);
    if (carrier) carrier_ = std::move(*carrier);
  }
  Result<http::UpgradedConnection> dial(http::PeerFacts facts) {
    auto ends = testing::make_memory_connections(io_.get_executor(), {}, std::move(facts));
    server_.serve(std::move(ends.server));
    http::Client::Settings settings;
    settings.url.host = "node.example";
    http::Client client(clock_, std::move(ends.client), std::move(settings));
    http::ClientRequest request;
    request.target = std::string(tunnel_path);
    auto dialled = run_ready_task(
        io_,
        http::connect_websocket(client, std::move(request), std::string(tunnel_subprotocol), Bytes(16, 'k')));
    return dialled ? std::move(*dialled) : fail(ErrorCode::deadline_exceeded, "test: still waiting");
  }

  testing::ManualClock clock_;
  NoSink sink_;
  Log log_{"test", clock_, sink_};
  asio::io_context io_;
  http::Router router_{{{http::Method::get, std::string(tunnel_path), "open_tunnel",
                         [this](http::RequestContext& context) { return serve(context); }}}};
  http::Server server_{{io_.get_executor(), clock_, log_}, router_, nullptr};
  std::unique_ptr<Carrier> carrier_;
};

TEST_F(TunnelRouteTest, WhenANodeComesByItsOwnName_ThenItGetsACarrier) {
  http::PeerFacts facts;
  facts.server_spki_der = "hub spki";
  facts.is_node_side = true;

  auto dialled = dial(std::move(facts));

  ASSERT_TRUE(dialled);
  ASSERT_NE(carrier_, nullptr);
  EXPECT_EQ(carrier_->peer().hub_spki, "hub spki");
  EXPECT_EQ(server_.connection_count(), 0U);
}

TEST_F(TunnelRouteTest, WhenItComesByThePeoplesSide_ThenThereIsNothing) {
  http::PeerFacts facts;
  facts.server_spki_der = "hub spki";

  const auto dialled = dial(std::move(facts));

  ASSERT_FALSE(dialled);
  EXPECT_EQ(dialled.error().code(), ErrorCode::not_found);
  EXPECT_EQ(carrier_, nullptr);
}

// proves A3
TEST_F(TunnelRouteTest, WhenItsCertificateIsForeign_ThenItIsDenied) {
  http::PeerFacts facts;
  facts.server_spki_der = "hub spki";
  facts.is_node_side = true;
  facts.certificate_verdict = http::CertificateVerdict::foreign;

  const auto dialled = dial(std::move(facts));

  ASSERT_FALSE(dialled);
  EXPECT_EQ(dialled.error().code(), ErrorCode::denied);
  EXPECT_EQ(carrier_, nullptr);
}

TEST_F(TunnelRouteTest, WhenTheFirstMessageComesWithTheUpgrade_ThenItIsNotLost) {
  auto ends = testing::make_memory_connections(io_.get_executor());
  const auto header =
      http::make_websocket_header(http::WebSocketRole::client, http::WebSocketOpcode::binary, 5);
  http::UpgradedConnection upgraded{std::move(ends.server), Bytes(header.view()) + "first"};
  const auto carrier =
      make_websocket_carrier(http::WebSocketRole::server, std::move(upgraded), io_.get_executor());

  const auto received = run_ready_task(io_, carrier->receive());

  ASSERT_TRUE(received && *received);
  EXPECT_EQ(**received, "first");
}

TEST_F(TunnelRouteTest, WhenAMessageIsEmptyOrTooLong_ThenItIsRefused) {
  for (const std::size_t size : {0U, 70'000U}) {
    SCOPED_TRACE(size);
    auto ends = testing::make_memory_connections(io_.get_executor());
    const auto header =
        http::make_websocket_header(http::WebSocketRole::client, http::WebSocketOpcode::binary, size);
    http::UpgradedConnection upgraded{std::move(ends.server), Bytes(header.view())};
    const auto carrier =
        make_websocket_carrier(http::WebSocketRole::server, std::move(upgraded), io_.get_executor());

    const auto received = run_ready_task(io_, carrier->receive());

    ASSERT_TRUE(received && !*received);
    EXPECT_NE(received->error().code(), ErrorCode::unavailable);
  }
}

}  // namespace
}  // namespace outhaul::transport
