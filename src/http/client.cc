#include "http/client.h"

#include <boost/asio/this_coro.hpp>

#include "base/assert.h"
#include "base/within.h"
#include "http/dial.h"
#include "http/head_parser.h"
#include "http/head_writer.h"
#include "http/input_buffer.h"
#include "http/message_body.h"
#include "http/plain_connection.h"
#include "http/problem.h"
#include "http/tls_connection.h"

namespace outhaul::http {
namespace {

constexpr std::size_t max_head_bytes = 16 * 1024;

std::unexpected<Error> too_late(const char* what) { return fail(ErrorCode::deadline_exceeded, what); }

// Whoever retries must know whether the hub may have seen the request.
Error after_sending(Error error) { return std::move(error).with("sent", "true"); }

}  // namespace

struct Client::State {
  State(AsyncClock& c, const TlsClientContext* t, Settings s) : clock(c), tls(t), settings(std::move(s)) {}

  AsyncClock& clock;
  const TlsClientContext* tls;
  Settings settings;
  std::unique_ptr<Connection> connection;
  InputBuffer input;
  std::unique_ptr<MessageBody> body;  // of the last response
  Method method = Method::get;        // of the last request
  bool keep_alive = false;            // what the last response said
  bool is_unused = false;             // the connection has carried no request yet

  Task<Result<std::unique_ptr<Connection>>> open();
  Task<Result<void>> ready();
  Task<Result<ResponseHead>> read_head();
  Task<Result<ResponseHead>> read_final_head();
  Task<Result<ClientResponse>> read_response();
  Task<Result<void>> send(const ClientRequest& request, BodyFraming framing);
  void drop() {
    body.reset();
    connection.reset();
    input = InputBuffer();
  }
};

Task<Result<std::unique_ptr<Connection>>> Client::State::open() {
  const TimePoint deadline = clock.now() + settings.connect_limit;
  OUTHAUL_CO_TRY(descriptor, co_await dial(clock, deadline, settings.url.host, settings.url.port));
  if (tls == nullptr) {
    const Executor executor = co_await asio::this_coro::executor;
    co_return make_plain_connection(executor, descriptor);
  }
  TlsClientName name;
  name.server_name = settings.server_name.empty() ? settings.url.host : settings.server_name;
  name.resumption = settings.resumption;
  auto shaken = co_await within(clock, deadline, tls_connect(descriptor, *tls, std::move(name)));
  if (!shaken) co_return too_late("tls: no handshake in time");
  co_return std::move(*shaken);
}

// A connection on which the last exchange has ended, or a new one.
Task<Result<void>> Client::State::ready() {
  // A request that was cancelled leaves neither an unused connection nor a finished body.
  const bool has_ended = is_unused || (body != nullptr && keep_alive && body->is_done());
  const bool is_reusable = connection != nullptr && connection->is_open() && has_ended;
  body.reset();
  if (is_reusable) co_return Result<void>();
  drop();
  OUTHAUL_CO_TRY(opened, co_await open());
  connection = std::move(opened);
  is_unused = true;
  co_return Result<void>();
}

Task<Result<void>> Client::State::send(const ClientRequest& request, BodyFraming framing) {
  method = request.method;
  is_unused = false;
  const Bytes head =
      write_request_head(request.method, request.target, settings.url.authority(), request.headers, framing);
  auto sent = co_await connection->write_all(head, request.body);
  if (!sent) {
    drop();
    co_return fail(after_sending(std::move(sent).error()));
  }
  co_return Result<void>();
}

Task<Result<ResponseHead>> Client::State::read_head() {
  for (;;) {
    auto end = find_head_end(input.view(), max_head_bytes);
    if (!end) co_return fail(ErrorCode::protocol_violation, end.error().what());
    if (*end > 0) {
      auto head = parse_response_head(input.view().substr(0, *end), method);
      input.consume(*end);
      co_return head;
    }
    OUTHAUL_CO_TRY(count, co_await input.fill(*connection));
    if (count == 0)
      co_return fail(ErrorCode::unavailable, "http: the hub closed the connection without an answer");
  }
}

Task<Result<ResponseHead>> Client::State::read_final_head() {
  for (;;) {
    OUTHAUL_CO_TRY(head, co_await read_head());
    if (head.status >= 200 || head.status == 101) co_return std::move(head);
  }
}

Task<Result<ClientResponse>> Client::State::read_response() {
  if (connection == nullptr) co_return fail(ErrorCode::unavailable, "http: no connection");
  auto timed = co_await within(clock, clock.now() + settings.head_limit, read_final_head());
  if (!timed || !*timed) {
    drop();
    auto error =
        timed ? std::move(*timed).error() : Error(ErrorCode::deadline_exceeded, "http: no answer in time");
    co_return fail(after_sending(std::move(error)));
  }
  ResponseHead& head = **timed;
  keep_alive = head.keep_alive;
  body = std::make_unique<MessageBody>(*connection, input, head.framing, nullptr);
  co_return ClientResponse{.status = head.status, .headers = std::move(head.headers), .body = body.get()};
}

Client::Client(AsyncClock& clock, const TlsClientContext* tls, Settings settings)
    : state_(std::make_unique<State>(clock, tls, std::move(settings))) {}

Client::Client(AsyncClock& clock, std::unique_ptr<Connection> connection, Settings settings)
    : Client(clock, nullptr, std::move(settings)) {
  state_->connection = std::move(connection);
  state_->is_unused = true;
}

Client::~Client() = default;

Task<Result<void>> Client::connect() { return state_->ready(); }

Task<Result<ClientResponse>> Client::request(ClientRequest request) {
  OUTHAUL_CO_CHECK(co_await state_->ready());
  BodyFraming framing;
  if (!request.body.empty() || request.method == Method::post) {
    framing = BodyFraming{.kind = BodyKind::length, .length = request.body.size()};
  }
  OUTHAUL_CO_CHECK(co_await state_->send(request, framing));
  co_return co_await state_->read_response();
}

Task<Result<void>> Client::start_request(ClientRequest request) {
  OUTHAUL_ASSERT(request.body.empty());
  OUTHAUL_CO_CHECK(co_await state_->ready());
  const BodyFraming framing{.kind = BodyKind::chunked};
  co_return co_await state_->send(request, framing);
}

Task<Result<void>> Client::write_body(ByteView piece) {
  if (piece.empty()) co_return Result<void>();
  if (state_->connection == nullptr) co_return fail(ErrorCode::unavailable, "http: no connection");
  const Bytes head = chunk_head(piece.size());
  co_return co_await state_->connection->write_all(head, piece, chunk_end);
}

Task<Result<void>> Client::finish_body() {
  if (state_->connection == nullptr) co_return fail(ErrorCode::unavailable, "http: no connection");
  co_return co_await state_->connection->write_all(last_chunk);
}

Task<Result<ClientResponse>> Client::read_response() { return state_->read_response(); }

Task<Result<Response>> Client::call(ClientRequest request, std::size_t max_bytes) {
  OUTHAUL_CO_TRY(answer, co_await this->request(std::move(request)));
  auto body = co_await answer.body->read_all(max_bytes);
  if (!body) co_return fail(after_sending(std::move(body).error()));
  if (answer.status >= 400) co_return fail(parse_problem(answer.status, *body));
  co_return Response{.status = answer.status, .headers = std::move(answer.headers), .body = std::move(*body)};
}

Task<Result<Client::Upgraded>> Client::upgrade(ClientRequest request) {
  OUTHAUL_CO_TRY(answer, co_await this->request(std::move(request)));
  Upgraded upgraded{.status = answer.status,
                    .headers = std::move(answer.headers),
                    .connection = nullptr,
                    .already_read = {}};
  if (answer.status == 101) {
    state_->body.reset();
    upgraded.already_read = state_->input.take();
    upgraded.connection = std::move(state_->connection);
  } else {
    OUTHAUL_CO_TRY(body, co_await answer.body->read_all(max_head_bytes));
    upgraded.already_read = std::move(body);
  }
  co_return upgraded;
}

const PeerFacts* Client::peer() const { return state_->connection ? &state_->connection->peer() : nullptr; }
Bytes Client::resumption() const { return state_->connection ? state_->connection->resumption() : Bytes(); }
void Client::kill() {
  if (state_->connection) state_->connection->kill();
}

}  // namespace outhaul::http
