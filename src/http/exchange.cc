#include "http/exchange.h"

#include <array>
#include <boost/asio/this_coro.hpp>
#include <vector>

#include "base/assert.h"
#include "base/event.h"
#include "http/head_writer.h"

namespace outhaul::http {
namespace {

// An unread body up to this size is read and dropped; a longer one costs the connection.
constexpr std::uint64_t max_skipped_bytes = 64 * 1024;
// What a client may send ahead while its request is being answered, before we stop looking whether it left.
constexpr std::size_t max_ahead_bytes = 16 * 1024;

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

Exchange::Exchange(const Ports& ports, RequestHead head)
    : ports_(ports),
      head_(std::move(head)),
      body_(*ports.connection, ports.input, head_.framing, this),
      keep_alive_(head_.keep_alive),
      owes_continue_(head_.expects_continue) {}

Task<Result<Bytes>> Exchange::read_body(std::size_t max_bytes) {
  if (body_.find_remaining().value_or(0) > max_bytes) {
    co_return std::unexpected(Error(ErrorCode::too_large, "the body is over its limit")
                                  .with("limit_bytes", std::to_string(max_bytes)));
  }
  co_return co_await body_.read_all(max_bytes);
}

Task<Result<void>> Exchange::before_read() {
  ports_.connection->set_deadline(ports_.clock.now() + ports_.limits.body_idle);
  if (!std::exchange(owes_continue_, false)) co_return Result<void>();
  co_return co_await ports_.connection->write_all("HTTP/1.1 100 Continue\r\n\r\n");
}

Task<Result<void>> Exchange::write_now(ByteView first, ByteView second, ByteView third) {
  const std::array<ByteView, 3> pieces{first, second, third};
  co_return co_await write_now_many(pieces);
}

Task<Result<void>> Exchange::write_now_many(std::span<const ByteView> pieces) {
  ports_.connection->set_deadline(ports_.clock.now() + ports_.limits.write_idle);
  auto written = co_await ports_.connection->write_many(pieces);
  ports_.connection->set_deadline(TimePoint::max());
  if (!written) state_ = State::broken;
  co_return written;
}

// A client that waits for 100 may or may not send its body after another answer: nobody can tell, so it
// cannot be skipped.
bool Exchange::can_skip_body() const {
  const auto remaining = body_.find_remaining();
  return remaining == 0 || (remaining && *remaining <= max_skipped_bytes && !owes_continue_);
}

void Exchange::decide_keep_alive() { keep_alive_ = keep_alive_ && !ports_.is_draining && can_skip_body(); }

Task<void> Exchange::respond(Response response) {
  OUTHAUL_ASSERT(state_ == State::open);
  state_ = State::answered;
  decide_keep_alive();
  BodyFraming framing;
  if (has_body(response.status)) framing = {.kind = BodyKind::length, .length = response.body.size()};
  const Bytes head = write_response_head(response.status, response.headers, framing, keep_alive_);
  const bool sends_body = has_body(response.status) && !is_head_request();
  // A client that has left is found out by complete().
  static_cast<void>(co_await write_now(head, sends_body ? ByteView(response.body) : ByteView()));
}

Task<Result<ResponseWriter*>> Exchange::start_response(Response response) {
  OUTHAUL_ASSERT(state_ == State::open && response.body.empty());
  state_ = State::streaming;
  decide_keep_alive();
  answer_kind_ = head_.is_http_1_0 ? BodyKind::until_close : BodyKind::chunked;
  const BodyFraming framing{.kind = answer_kind_};
  const Bytes head = write_response_head(response.status, response.headers, framing, keep_alive_);
  OUTHAUL_CO_CHECK(co_await write_now(head));
  co_return static_cast<ResponseWriter*>(this);
}

Task<Result<void>> Exchange::write(ByteView first, ByteView second) {
  if (state_ == State::broken) co_return fail(ErrorCode::unavailable, "http: the client has left");
  OUTHAUL_ASSERT(state_ == State::streaming);
  const auto size = first.size() + second.size();
  if (size == 0 || is_head_request()) co_return Result<void>();
  if (answer_kind_ == BodyKind::until_close) co_return co_await write_now(first, second);
  // Three views are what a write takes; the first one is short where two are given (a record's header).
  Bytes head = chunk_head(size);
  if (second.empty()) co_return co_await write_now(head, first, chunk_end);
  head.append(first);
  co_return co_await write_now(head, second, chunk_end);
}

Task<Result<void>> Exchange::write_many(std::span<const ByteView> pieces) {
  if (state_ == State::broken) co_return fail(ErrorCode::unavailable, "http: the client has left");
  OUTHAUL_ASSERT(state_ == State::streaming);
  std::size_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  if (size == 0 || is_head_request()) co_return Result<void>();
  const Bytes head = chunk_head(size);
  std::vector<ByteView> framed{ByteView(head)};
  framed.insert(framed.end(), pieces.begin(), pieces.end());
  framed.push_back(chunk_end);
  const bool is_chunked = answer_kind_ == BodyKind::chunked;
  co_return co_await write_now_many(is_chunked ? std::span<const ByteView>(framed) : pieces);
}

Task<Result<void>> Exchange::finish() {
  if (state_ == State::broken) co_return fail(ErrorCode::unavailable, "http: the client has left");
  OUTHAUL_ASSERT(state_ == State::streaming);
  state_ = State::answered;
  if (answer_kind_ != BodyKind::chunked || is_head_request()) co_return Result<void>();
  co_return co_await write_now(last_chunk);
}

Task<Result<UpgradedConnection>> Exchange::upgrade(Response response) {
  OUTHAUL_ASSERT(state_ == State::open && response.status == 101 && body_.is_done());
  state_ = State::answered;
  const Bytes head = write_response_head(response.status, response.headers, {}, true);
  OUTHAUL_CO_CHECK(co_await write_now(head));
  co_return UpgradedConnection{std::move(ports_.connection), ports_.input.take()};
}

Task<void> Exchange::client_left() {
  while (ports_.connection->is_open() && ports_.input.view().size() < max_ahead_bytes) {
    const auto count = co_await ports_.input.fill(*ports_.connection);
    if (!count || *count == 0) co_return;
  }
  if (!ports_.connection->is_open()) co_return;
  // Too much was sent ahead to go on looking: only a failing write will tell.
  Event never(co_await asio::this_coro::executor);
  co_await never.wait();
}

Task<bool> Exchange::skip_body() {
  while (!body_.is_done()) {
    const auto piece = co_await body_.read_some();
    if (!piece) co_return false;
  }
  co_return true;
}

Task<Exchange::After> Exchange::complete() {
  body_.settle();
  if (state_ == State::open)
    co_await respond_error(Error(ErrorCode::internal, "the request was not answered"));
  // A stream without its end must not look like a whole answer.
  if (state_ != State::answered) co_return After::close;
  if (ports_.connection == nullptr) co_return After::close;
  if (!keep_alive_) co_return body_.is_done() ? After::close : After::linger;
  co_return co_await skip_body() ? After::next_request : After::close;
}

}  // namespace outhaul::http
