#include "http/server.h"

#include <gtest/gtest.h>

#include <map>

#include "base/within.h"
#include "http/sse.h"
#include "testing/manual_clock.h"
#include "testing/memory_connection.h"
#include "testing/run_ready_task.h"

namespace outhaul::http {
namespace {

using namespace std::chrono_literals;
using testing::run_ready;

class NoSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

// A server over memory connections; the test speaks HTTP by hand.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() : router_(routes()), server_({io_.get_executor(), clock_, log_}, router_, nullptr) {}
  ~ServerTest() override { testing::run_ready_task(io_, server_.close()); }

  std::vector<Route> routes() {
    std::vector<Route> table;
    table.push_back(
        {Method::get, "/hello", "hello", [](RequestContext& context) { return answer(context, "hi"); }});
    table.push_back({Method::get, "/items/{id}", "item", [](RequestContext& context) {
                       return answer(context, "item " + context.path_value("id"));
                     }});
    table.push_back({Method::post, "/echo", "echo", echo});
    table.push_back(
        {Method::post, "/ignore", "ignore", [](RequestContext& context) { return answer(context, "no"); }});
    table.push_back(
        {Method::get, "/stream", "stream", [this](RequestContext& context) { return stream(context); }});
    table.push_back({Method::get, "/cut", "cut", cut});
    table.push_back({Method::get, "/silent", "silent", [](RequestContext&) -> Task<void> { co_return; }});
    table.push_back(
        {Method::get, "/events", "events", [this](RequestContext& context) { return events(context); }});
    table.push_back(
        {Method::get, "/wait", "wait", [this](RequestContext& context) { return wait(context); }});
    return table;
  }
  static Task<void> answer(RequestContext& context, std::string text) {
    Response response;
    response.body = std::move(text);
    co_await context.respond(std::move(response));
  }
  static Task<void> echo(RequestContext& context) {
    auto body = co_await context.read_body(100);
    if (!body) {
      co_await context.respond_error(std::move(body).error());
      co_return;
    }
    co_await answer(context, std::move(*body));
  }
  Task<void> stream(RequestContext& context) {
    Response head;
    auto writer = co_await context.start_response(std::move(head));
    if (!writer) co_return;
    const Bytes piece(64 * 1024, 's');
    for (int i = 0; i < 4; ++i) {
      const auto written = co_await (*writer)->write("h", piece);
      if (!written) co_return;
      ++pieces_written_;
    }
    static_cast<void>(co_await (*writer)->finish());
  }
  static Task<void> cut(RequestContext& context) {
    Response head;
    auto writer = co_await context.start_response(std::move(head));
    if (writer) static_cast<void>(co_await (*writer)->write("half"));
  }
  Task<void> events(RequestContext& context) {
    auto writer = co_await EventWriter::start(context, clock_);
    if (!writer) co_return;
    ServerSentEvent event{.id = "1", .event = "state", .data = "a\nb"};
    static_cast<void>(co_await (*writer)->send(std::move(event)));
    co_await (*writer)->keep_alive();
    events_ended_ = true;
  }
  Task<void> wait(RequestContext& context) {
    co_await context.client_left();
    client_left_ = true;
  }

  std::unique_ptr<Connection> connect(testing::MemoryConnectionSettings settings = {}) {
    auto ends = testing::make_memory_connections(io_.get_executor(), settings);
    server_.serve(std::move(ends.server));
    run_ready(io_);
    return std::move(ends.client);
  }
  void send(Connection& client, std::string bytes) {
    testing::run_ready_task(io_, [](Connection& to, std::string text) -> Task<Result<void>> {
      co_return co_await to.write_all(text);
    }(client, std::move(bytes)));
    run_ready(io_);
  }
  // What has come so far, and whether the server has ended the connection.
  struct Received {
    std::string text;
    bool is_ended = false;
  };
  Received receive(Connection& client) {
    Received received;
    for (;;) {
      std::array<char, 4096> room{};
      const auto count = testing::run_ready_task(io_, client.read_some(room));
      if (!count) return received;
      received.is_ended = !*count || **count == 0;
      if (received.is_ended) return received;
      received.text.append(room.data(), **count);
    }
  }
  Received exchange(std::string bytes) {
    const auto client = connect();
    send(*client, std::move(bytes));
    return receive(*client);
  }
  void pass(Duration span) {
    for (Duration passed{}; passed < span; passed += 1s) {
      clock_.advance(1s);
      run_ready(io_);
    }
  }

  testing::ManualClock clock_;
  NoSink sink_;
  Log log_{"test", clock_, sink_};
  asio::io_context io_;
  Router router_;
  Server server_;
  int pieces_written_ = 0;
  bool events_ended_ = false;
  bool client_left_ = false;
};

std::string get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n";
}

TEST_F(ServerTest, WhenARouteMatches_ThenItsHandlerAnswersAndTheConnectionStays) {
  const auto received = exchange(get("/hello"));

  EXPECT_EQ(received.text, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_FALSE(received.is_ended);
}

TEST_F(ServerTest, WhenRequestsArePipelined_ThenAnswersComeInOrder) {
  const auto received =
      exchange(get("/hello") + "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" +
               "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n" +
               get("/items/7", "Connection: close\r\n"));

  const auto at = [&](const char* text) { return received.text.find(text); };
  EXPECT_LT(at("hi"), at("abc"));
  EXPECT_LT(at("abc"), at("de"));
  EXPECT_LT(at("de"), at("item 7"));
  EXPECT_NE(at("item 7"), std::string::npos);
  EXPECT_TRUE(received.is_ended);
}

TEST_F(ServerTest, WhenBytesComeOneAtATime_ThenTheAnswerIsTheSame) {
  const auto client = connect({.max_read_bytes = 1});

  send(*client, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
                    get("/hello"));
  const auto received = receive(*client);

  EXPECT_TRUE(received.text.ends_with("\r\n\r\nhi"));
  EXPECT_NE(received.text.find("abc"), std::string::npos);
}

TEST_F(ServerTest, WhenMethodIsHead_ThenTheBodyIsLeftOut) {
  EXPECT_EQ(exchange("HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n").text,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
}

TEST_F(ServerTest, WhenNoRouteMatches_ThenTheReasonIsAProblem) {
  struct Row {
    const char* request;
    const char* expected;
  };
  for (const Row& row : {
           Row{"GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n", "404 Not Found"},
           Row{"GET /hello/ HTTP/1.1\r\nHost: h\r\n\r\n", "404 Not Found"},
           Row{"GET //hello HTTP/1.1\r\nHost: h\r\n\r\n", "404 Not Found"},
           Row{"GET /items/../hello HTTP/1.1\r\nHost: h\r\n\r\n", "404 Not Found"},
           Row{"GET /%68ello HTTP/1.1\r\nHost: h\r\n\r\n", "404 Not Found"},
           Row{"GET /items/ HTTP/1.1\r\nHost: h\r\n\r\n", "404 Not Found"},
           Row{"GET /items/%ff HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"},
           Row{"DELETE /hello HTTP/1.1\r\nHost: h\r\n\r\n", "Allow: GET, HEAD"},
           Row{"TRACE /hello HTTP/1.1\r\nHost: h\r\n\r\n", "405 Method Not Allowed"},
       }) {
    SCOPED_TRACE(row.request);

    const auto received = exchange(row.request);

    EXPECT_NE(received.text.find(row.expected), std::string::npos) << received.text;
    EXPECT_NE(received.text.find("application/problem+json"), std::string::npos);
  }
}

TEST_F(ServerTest, WhenASegmentHoldsAnEncodedSlash_ThenItStaysOneSegment) {
  EXPECT_TRUE(exchange(get("/items/a%2Fb")).text.ends_with("item a/b"));
}

// proves X54
TEST_F(ServerTest, WhenABodyPassesItsLimit_ThenItIs413AndTheConnectionEnds) {
  for (const std::string framing :
       {"Content-Length: 200000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n30d40\r\n"}) {
    SCOPED_TRACE(framing);
    const auto client = connect();

    send(*client, "POST /echo HTTP/1.1\r\nHost: h\r\n" + framing + std::string(1000, 'x'));
    const auto received = receive(*client);
    client->close();
    run_ready(io_);

    EXPECT_TRUE(received.text.starts_with("HTTP/1.1 413 ")) << received.text;
    EXPECT_NE(received.text.find("Connection: close"), std::string::npos);
    EXPECT_EQ(server_.connection_count(), 0U);
  }
}

TEST_F(ServerTest, WhenAShortBodyIsNotRead_ThenItIsSkippedBeforeTheNextRequest) {
  const auto received = exchange(
      "POST /ignore HTTP/1.1\r\nHost: h\r\nContent-Length: 18\r\n\r\nGET /hello HTTP/1." + get("/hello"));

  EXPECT_NE(received.text.find("no"), std::string::npos);
  EXPECT_TRUE(received.text.ends_with("hi"));
}

TEST_F(ServerTest, WhenTheClientWaitsForContinue_ThenItIsToldOnlyWhenTheBodyIsRead) {
  const auto client = connect();

  send(*client, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  const auto first = receive(*client);
  send(*client, "abc");
  const auto second = receive(*client);

  EXPECT_EQ(first.text, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(second.text.ends_with("abc"));
}

TEST_F(ServerTest, WhenTheClientWaitsForContinueAndIsRefused_ThenTheConnectionEnds) {
  const auto received =
      exchange("POST /ignore HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");

  EXPECT_EQ(received.text.find("100 Continue"), std::string::npos);
  EXPECT_NE(received.text.find("Connection: close"), std::string::npos);
}

TEST_F(ServerTest, WhenRequestsTryToSmuggle_ThenTheyAre400AndNothingAfterThemIsServed) {
  const std::map<std::string, std::string> rows = {
      {"length and encoding",
       "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"two lengths", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"},
      {"folded header", "POST /echo HTTP/1.1\r\nHost: h\r\nX: a\r\n Content-Length: 5\r\n\r\n"},
      {"bare LF", "POST /echo HTTP/1.1\nHost: h\nContent-Length: 5\n\n"},
      {"no version", "GET /hello\r\n\r\n"},
  };
  for (const auto& [reason, bytes] : rows) {
    SCOPED_TRACE(reason);

    const auto received = exchange(bytes + get("/hello"));

    EXPECT_TRUE(received.text.starts_with("HTTP/1.1 400 ")) << received.text;
    EXPECT_EQ(received.text.find("\r\n\r\nhi"), std::string::npos);
  }
}

TEST_F(ServerTest, WhenAChunkIsBad_ThenTheRequestFailsAndNothingAfterItIsServed) {
  const auto received =
      exchange("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + get("/hello"));

  EXPECT_TRUE(received.text.starts_with("HTTP/1.1 400 ")) << received.text;
  EXPECT_EQ(received.text.find("\r\n\r\nhi"), std::string::npos);
}

TEST_F(ServerTest, WhenTheHeadPassesItsLimit_ThenItIs431) {
  EXPECT_TRUE(exchange(get("/hello", "X: " + std::string(17'000, 'x'))).text.starts_with("HTTP/1.1 431 "));
}

// proves X54
TEST_F(ServerTest, WhenAClientReadsSlowly_ThenOnlyItsOwnHandlerWaits) {
  const auto slow = connect();
  send(*slow, get("/stream"));
  const int before = pieces_written_;

  const auto other = exchange(get("/hello"));
  const auto received = receive(*slow);

  EXPECT_LE(before, 1);
  EXPECT_TRUE(other.text.ends_with("hi"));
  EXPECT_EQ(pieces_written_, 4);
  EXPECT_NE(received.text.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE(received.text.ends_with("\r\n0\r\n\r\n"));
}

TEST_F(ServerTest, WhenAClientTakesNothing_ThenItIsCutAfterTheWriteLimit) {
  const auto slow = connect();
  send(*slow, get("/stream"));

  pass(62s);

  EXPECT_EQ(server_.connection_count(), 0U);
}

TEST_F(ServerTest, WhenAStreamIsNotFinished_ThenTheConnectionIsCutWithoutTheLastChunk) {
  const auto received = exchange(get("/cut"));

  EXPECT_TRUE(received.text.ends_with("4\r\nhalf\r\n"));
  EXPECT_TRUE(received.is_ended);
}

TEST_F(ServerTest, WhenAHandlerDoesNotAnswer_ThenItIs500) {
  EXPECT_TRUE(exchange(get("/silent")).text.starts_with("HTTP/1.1 500 "));
}

TEST_F(ServerTest, WhenTheClientLeaves_ThenTheHandlerLearnsOfIt) {
  const auto client = connect();
  send(*client, get("/wait"));
  ASSERT_FALSE(client_left_);

  client->close();
  run_ready(io_);

  EXPECT_TRUE(client_left_);
}

TEST_F(ServerTest, WhenHttpIs10_ThenTheConnectionEndsAfterTheAnswer) {
  const auto received = exchange("GET /stream HTTP/1.0\r\n\r\n");

  EXPECT_EQ(received.text.find("chunked"), std::string::npos);
  EXPECT_TRUE(received.is_ended);
}

// proves X35
TEST_F(ServerTest, WhenEventsAreQuiet_ThenACommentComesEvery15Seconds) {
  const auto client = connect();
  send(*client, get("/events"));
  const auto head = receive(*client);

  pass(14s);
  const auto too_early = receive(*client);
  pass(2s);
  const auto comment = receive(*client);
  client->close();
  pass(31s);

  EXPECT_NE(head.text.find("X-Accel-Buffering: no"), std::string::npos);
  EXPECT_NE(head.text.find("id: 1\nevent: state\ndata: a\ndata: b\n\n"), std::string::npos);
  EXPECT_EQ(too_early.text, "");
  EXPECT_NE(comment.text.find(": keep-alive\n\n"), std::string::npos);
  EXPECT_TRUE(events_ended_);
}

TEST_F(ServerTest, WhenAHeadNeverEnds_ThenTheConnectionIsCut) {
  const auto client = connect();
  send(*client, "GET /hello HT");

  pass(14s);
  EXPECT_EQ(server_.connection_count(), 1U);
  pass(3s);

  EXPECT_EQ(server_.connection_count(), 0U);
}

TEST_F(ServerTest, WhenAConnectionIdles_ThenItIsCutAfterItsLimit) {
  const auto client = connect();
  send(*client, get("/hello"));

  pass(74s);
  EXPECT_EQ(server_.connection_count(), 1U);
  pass(3s);

  EXPECT_EQ(server_.connection_count(), 0U);
}

TEST_F(ServerTest, WhenItDrains_ThenIdleConnectionsEndAndRunningRequestsFinish) {
  const auto idle = connect();
  const auto busy = connect();
  send(*busy, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n");
  bool is_drained = false;
  TaskGroup group(io_.get_executor());
  group.spawn([&]() -> Task<void> {
    co_await server_.drain(30s);
    is_drained = true;
  });
  run_ready(io_);
  EXPECT_TRUE(receive(*idle).is_ended);
  EXPECT_FALSE(is_drained);

  send(*busy, "abc");
  const auto received = receive(*busy);

  EXPECT_TRUE(received.text.ends_with("abc"));
  EXPECT_NE(received.text.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(received.is_ended);
  EXPECT_TRUE(is_drained);
}

TEST_F(ServerTest, WhenADrainPassesItsLimit_ThenWhatRunsIsCut) {
  const auto busy = connect();
  send(*busy, get("/wait"));
  bool is_drained = false;
  TaskGroup group(io_.get_executor());
  group.spawn([&]() -> Task<void> {
    co_await server_.drain(30s);
    is_drained = true;
  });
  run_ready(io_);

  pass(31s);

  EXPECT_TRUE(is_drained);
  EXPECT_EQ(server_.connection_count(), 0U);
}

TEST(LastEventId, WhenItIsNoNumber_ThenItIsInvalid) {
  EXPECT_EQ(**parse_last_event_id({{"Last-Event-ID", "42"}}), 42U);
  EXPECT_EQ(*parse_last_event_id({}), std::nullopt);
  for (const char* text : {"", "-1", "4 2", "0x1", "99999999999999999999", "hunter2"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(parse_last_event_id({{"last-event-id", text}}).error().code(), ErrorCode::invalid);
  }
}

TEST(EventFormat, WhenDataHasAnyLineEnd_ThenEveryLineIsAField) {
  EXPECT_EQ(format_event({.id = "", .event = "", .data = "a\r\nb\rc\nd"}),
            "data: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(format_event({.id = "9", .event = "", .data = ""}), "id: 9\ndata: \n\n");
}

}  // namespace
}  // namespace outhaul::http
