#include "http/message_body.h"

#include <algorithm>

namespace outhaul::http {

Task<Result<Bytes>> BodyReader::read_all(std::size_t max_bytes) {
  Bytes whole;
  for (;;) {
    OUTHAUL_CO_TRY(piece, co_await read_some());
    if (piece.empty()) co_return whole;
    if (piece.size() > max_bytes - whole.size()) {
      co_return std::unexpected(Error(ErrorCode::too_large, "http: the body is over its limit")
                                    .with("limit_bytes", std::to_string(max_bytes)));
    }
    whole.append(piece);
  }
}

MessageBody::MessageBody(Connection& connection, InputBuffer& input, BodyFraming framing,
                         BodyWatcher* watcher)
    : connection_(connection),
      input_(input),
      kind_(framing.kind),
      watcher_(watcher),
      remaining_(framing.length),
      is_done_(framing.kind == BodyKind::none) {}

std::optional<std::uint64_t> MessageBody::find_remaining() const {
  if (is_done_) return 0;
  if (kind_ == BodyKind::length) return remaining_;
  return std::nullopt;
}

Task<Result<ByteView>> MessageBody::read_some() {
  settle();
  while (!is_done_) {
    OUTHAUL_CO_TRY(piece, take_from_input());
    if (!piece.empty()) co_return piece;
    if (!is_done_) OUTHAUL_CO_CHECK(co_await fill());
  }
  co_return ByteView();
}

Result<ByteView> MessageBody::take_from_input() {
  if (input_.is_empty()) return ByteView();
  ByteView piece = input_.view();
  if (kind_ == BodyKind::chunked) {
    OUTHAUL_TRY(step, chunks_.step(piece));
    is_done_ = chunks_.is_done();
    if (step.data.empty())
      input_.consume(step.consumed);
    else
      handed_out_ = step.consumed;
    return step.data;
  }
  if (kind_ == BodyKind::length) {
    piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), remaining_)));
    remaining_ -= piece.size();
    is_done_ = remaining_ == 0;
  }
  handed_out_ = piece.size();
  return piece;
}

Task<Result<void>> MessageBody::fill() {
  if (watcher_ != nullptr) OUTHAUL_CO_CHECK(co_await watcher_->before_read());
  OUTHAUL_CO_TRY(count, co_await input_.fill(connection_));
  if (count > 0) co_return Result<void>();
  if (kind_ != BodyKind::until_close)
    co_return fail(ErrorCode::unavailable, "http: the peer left in the middle of a body");
  is_done_ = true;
  co_return Result<void>();
}

}  // namespace outhaul::http
