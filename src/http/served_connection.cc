#include "http/served_connection.h"

#include "http/exchange.h"
#include "http/head_writer.h"
#include "http/problem.h"

namespace outhaul::http {
namespace {

// Closing with unread input makes the kernel send a reset, which can overtake and destroy the answer. So
// input is read for a while first: until the client has closed, at most this long and this much.
constexpr Duration linger_span = std::chrono::seconds(2);
constexpr std::size_t max_linger_bytes = std::size_t{4} << 20;

}  // namespace

ServedConnection::ServedConnection(std::unique_ptr<Connection> connection, const Rules& rules)
    : rules_(rules), connection_(std::move(connection)) {}

void ServedConnection::kill() {
  if (connection_) connection_->kill();
}

void ServedConnection::kill_if_past(TimePoint now) {
  if (connection_ && connection_->deadline() < now) connection_->kill();
}

Task<void> ServedConnection::run() {
  while (co_await serve_one()) {
  }
  if (connection_) connection_->close();
}

// The head in the input; empty when there is none to come, or it was refused.
Task<std::optional<ByteView>> ServedConnection::read_head() {
  is_idle_ = input_.is_empty();
  if (is_idle_) input_.shrink();
  const Duration before = std::exchange(is_first_, false) ? rules_.limits.first_request : rules_.limits.idle;
  allow(is_idle_ ? before : rules_.limits.head);
  for (;;) {
    auto end = find_head_end(input_.view(), rules_.limits.max_head_bytes);
    if (!end) {
      co_await refuse(std::move(end).error());
      co_return std::nullopt;
    }
    if (*end > 0) co_return input_.view().substr(0, *end);
    const auto count = co_await input_.fill(*connection_);
    if (!count || *count == 0) co_return std::nullopt;
    if (std::exchange(is_idle_, false)) allow(rules_.limits.head);
  }
}

// Answers what is no request; the connection ends, because nobody knows where the next one would begin.
Task<void> ServedConnection::refuse(Error error) {
  Response response = problem_response(error);
  if (error.code() == ErrorCode::too_large) response.status = 431;
  const BodyFraming framing{.kind = BodyKind::length, .length = response.body.size()};
  const Bytes head = write_response_head(response.status, response.headers, framing, false);
  allow(rules_.limits.write_idle);
  const auto written = co_await connection_->write_all(head, response.body);
  if (written) co_await linger();
}

Task<void> ServedConnection::linger() {
  allow(linger_span);
  for (std::size_t dropped = 0; dropped < max_linger_bytes;) {
    input_.consume(input_.view().size());
    const auto count = co_await input_.fill(*connection_);
    if (!count || *count == 0) co_return;
    dropped += *count;
  }
}

// True when another request may follow.
Task<bool> ServedConnection::serve_one() {
  const auto bytes = co_await read_head();
  if (!bytes) co_return false;
  is_idle_ = false;
  connection_->set_deadline(TimePoint::max());
  auto head = parse_request_head(*bytes);
  input_.consume(bytes->size());
  if (!head) {
    co_await refuse(std::move(head).error());
    co_return false;
  }
  const Exchange::Ports ports{.connection = connection_,
                              .input = input_,
                              .clock = rules_.clock,
                              .limits = rules_.limits,
                              .is_draining = rules_.is_draining,
                              .is_stranger = is_stranger_};
  Exchange exchange(ports, std::move(*head));
  co_await rules_.router.dispatch(exchange);
  const auto after = co_await exchange.complete();
  if (after == Exchange::After::linger) co_await linger();
  co_return after == Exchange::After::next_request && !rules_.is_draining;
}

}  // namespace outhaul::http
