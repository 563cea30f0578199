#include "http/client.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "http/server.h"
#include "http/websocket.h"
#include "http/websocket_handshake.h"
#include "testing/manual_clock.h"
#include "testing/memory_connection.h"
#include "testing/run_ready_task.h"

namespace outhaul::http {
namespace {

using namespace std::chrono_literals;
using testing::run_ready;
using testing::run_ready_task;

class NoSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

Task<void> answer(RequestContext& context, int status, Bytes body) {
  Response response{.status = status, .headers = {}, .body = std::move(body)};
  co_await context.respond(std::move(response));
}

// Our client against our server, joined in memory.
class ClientTest : public ::testing::Test {
 protected:
  ClientTest() : router_(routes()), server_({io_.get_executor(), clock_, log_}, router_, nullptr) {}
  ~ClientTest() override { run_ready_task(io_, server_.close()); }

  std::vector<Route> routes() {
    std::vector<Route> table;
    table.push_back({Method::get, "/hello", "hello", [](RequestContext& c) { return answer(c, 200, "hi"); }});
    table.push_back({Method::post, "/echo", "echo", echo});
    table.push_back({Method::get, "/large", "large", large});
    table.push_back({Method::get, "/never", "never", [](RequestContext& c) { return c.client_left(); }});
    table.push_back({Method::get, "/refuse", "refuse", [](RequestContext& c) {
                       return c.respond_error(Error(ErrorCode::node_removed, "gone"));
                     }});
    table.push_back({Method::get, "/socket", "socket", [this](RequestContext& c) { return socket(c); }});
    table.push_back(
        {Method::get, "/stripped", "stripped", [](RequestContext& c) { return answer(c, 200, ""); }});
    return table;
  }
  static Task<void> echo(RequestContext& context) {
    auto body = co_await context.read_body();
    if (body) co_await answer(context, 201, std::move(*body));
  }
  static Task<void> large(RequestContext& context) {
    Response head;
    auto writer = co_await context.start_response(std::move(head));
    const Bytes piece(50'000, 'x');
    for (int i = 0; i < 10 && writer; ++i) {
      const auto written = co_await (*writer)->write(piece);
      if (!written) co_return;
    }
    if (writer) static_cast<void>(co_await (*writer)->finish());
  }
  Task<void> socket(RequestContext& context) {
    auto upgraded = co_await accept_websocket(context, "outhaul.v1");
    if (!upgraded) co_return;
    server_socket_ =
        std::make_unique<WebSocket>(WebSocketRole::server, std::move(*upgraded), io_.get_executor(), 70'000);
  }

  Client& client() {
    if (!client_) {
      auto ends = testing::make_memory_connections(io_.get_executor());
      server_.serve(std::move(ends.server));
      Client::Settings settings;
      settings.url.host = "hub.example";
      client_ = std::make_unique<Client>(clock_, std::move(ends.client), std::move(settings));
    }
    return *client_;
  }
  Result<Response> call(Method method, std::string target, Bytes body = {}) {
    ClientRequest request{
        .method = method, .target = std::move(target), .headers = {}, .body = std::move(body)};
    auto answered = run_ready_task(io_, client().call(std::move(request)));
    return answered ? std::move(*answered) : fail(ErrorCode::deadline_exceeded, "test: still waiting");
  }

  testing::ManualClock clock_;
  NoSink sink_;
  Log log_{"test", clock_, sink_};
  asio::io_context io_;
  Router router_;
  Server server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<WebSocket> server_socket_;
};

TEST_F(ClientTest, WhenCallsFollowEachOther_ThenOneConnectionServesThem) {
  const auto first = call(Method::get, "/hello");
  const auto second = call(Method::post, "/echo", "body");
  const auto empty = call(Method::post, "/echo");
  const auto large = call(Method::get, "/large");

  ASSERT_TRUE(first && second && empty && large);
  EXPECT_EQ(first->body, "hi");
  EXPECT_EQ(second->status, 201);
  EXPECT_EQ(second->body, "body");
  EXPECT_EQ(empty->body, "");
  EXPECT_EQ(large->body.size(), 500'000U);
  EXPECT_EQ(server_.connection_count(), 1U);
}

TEST_F(ClientTest, WhenTheHubRefuses_ThenItsErrorComesBack) {
  const auto refused = call(Method::get, "/refuse");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::node_removed);
  EXPECT_EQ(refused.error().what(), "gone");
}

TEST_F(ClientTest, WhenTheBodyIsStreamed_ThenItArrivesWhole) {
  const auto answered = run_ready_task(io_, [](Client& client) -> Task<Result<Bytes>> {
    ClientRequest request{.method = Method::post, .target = "/echo", .headers = {}, .body = {}};
    OUTHAUL_CO_CHECK(co_await client.start_request(std::move(request)));
    for (int i = 0; i < 3; ++i) OUTHAUL_CO_CHECK(co_await client.write_body("piece "));
    OUTHAUL_CO_CHECK(co_await client.finish_body());
    OUTHAUL_CO_TRY(response, co_await client.read_response());
    co_return co_await response.body->read_all(100);
  }(client()));

  ASSERT_TRUE(answered && *answered);
  EXPECT_EQ(**answered, "piece piece piece ");
}

TEST_F(ClientTest, WhenNoAnswerComes_ThenTheDeadlineSaysThatItWasSent) {
  std::optional<Result<Response>> answered;
  TaskGroup group(io_.get_executor());
  group.spawn([&]() -> Task<void> {
    ClientRequest request{.method = Method::get, .target = "/never", .headers = {}, .body = {}};
    answered = co_await client().call(std::move(request));
  });
  run_ready(io_);
  ASSERT_FALSE(answered);

  clock_.advance(61s);
  run_ready(io_);

  ASSERT_TRUE(answered);
  ASSERT_FALSE(*answered);
  EXPECT_EQ(answered->error().code(), ErrorCode::deadline_exceeded);
  EXPECT_EQ(answered->error().details().front(), (ErrorDetail{"sent", "true"}));
}

// proves B3
TEST_F(ClientTest, WhenAWebSocketIsAskedFor_ThenMessagesAndPingsGoBothWays) {
  ClientRequest request{.method = Method::get, .target = "/socket", .headers = {}, .body = {}};
  auto upgraded =
      run_ready_task(io_, connect_websocket(client(), std::move(request), "outhaul.v1", Bytes(16, 'k')));
  ASSERT_TRUE(upgraded && *upgraded);
  ASSERT_NE(server_socket_, nullptr);
  WebSocket client_socket(WebSocketRole::client, std::move(**upgraded), io_.get_executor(), 70'000);

  const Bytes long_message(65'000, 'm');
  ASSERT_TRUE(run_ready_task(io_, client_socket.send(long_message)));
  const auto at_server = run_ready_task(io_, server_socket_->receive());
  ASSERT_TRUE(run_ready_task(io_, server_socket_->ping("are you there")));
  ASSERT_TRUE(run_ready_task(io_, server_socket_->send("answer")));
  const auto at_client = run_ready_task(io_, client_socket.receive());
  ASSERT_TRUE(run_ready_task(io_, client_socket.close(websocket_close::going_away, "enough")));
  const auto after = run_ready_task(io_, server_socket_->receive());

  ASSERT_TRUE(at_server && *at_server);
  EXPECT_EQ(**at_server, long_message);
  ASSERT_TRUE(at_client && *at_client);
  EXPECT_EQ(**at_client, "answer");
  ASSERT_TRUE(after && !*after);
  EXPECT_EQ(after->error().code(), ErrorCode::unavailable);
  EXPECT_EQ(after->error().details().front(), (ErrorDetail{"close_code", "1001"}));
}

TEST_F(ClientTest, WhenTheUpgradeIsRefusedOrStripped_ThenTheErrorSaysWhich) {
  struct Row {
    const char* target;
    const char* subprotocol;
    ErrorCode code;
  };
  for (const Row& row : {Row{"/refuse", "outhaul.v1", ErrorCode::node_removed},
                         Row{"/stripped", "outhaul.v1", ErrorCode::protocol_violation},
                         Row{"/socket", "other.v1", ErrorCode::invalid},
                         Row{"/nowhere", "outhaul.v1", ErrorCode::not_found}}) {
    SCOPED_TRACE(row.target);
    ClientRequest request{.method = Method::get, .target = row.target, .headers = {}, .body = {}};

    const auto upgraded =
        run_ready_task(io_, connect_websocket(client(), std::move(request), row.subprotocol, Bytes(16, 'k')));

    ASSERT_TRUE(upgraded && !*upgraded);
    EXPECT_EQ(upgraded->error().code(), row.code);
  }
}

TEST_F(ClientTest, WhenTheUpgradeRequestIsHostile_ThenItIs400Or426) {
  const Headers good{{"Upgrade", "websocket"},
                     {"Connection", "Upgrade"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                     {"Sec-WebSocket-Protocol", "outhaul.v1"}};
  struct Row {
    const char* header;
    const char* value;
    ErrorCode code;
  };
  for (const Row& row :
       {Row{"Upgrade", "h2c", ErrorCode::invalid}, Row{"Connection", "keep-alive", ErrorCode::invalid},
        Row{"Sec-WebSocket-Key", "short", ErrorCode::invalid},
        Row{"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ!=", ErrorCode::invalid},
        Row{"Sec-WebSocket-Version", "8", ErrorCode::protocol_incompatible},
        Row{"Sec-WebSocket-Protocol", "chat", ErrorCode::invalid}}) {
    SCOPED_TRACE(row.value);
    ClientRequest request{.method = Method::get, .target = "/socket", .headers = good, .body = {}};
    request.headers.set(row.header, row.value);

    const auto answered = run_ready_task(io_, client().call(std::move(request)));

    ASSERT_TRUE(answered && !*answered);
    EXPECT_EQ(answered->error().code(), row.code);
    EXPECT_EQ(server_socket_, nullptr);
  }
}

// RFC 6455 1.3: example.
TEST(WebSocketHandshake, WhenTheKeyIsTheSample_ThenTheAcceptValueIsToo) {
  EXPECT_EQ(websocket_accept_value("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

}  // namespace
}  // namespace outhaul::http
