#include "http/websocket.h"

#include <algorithm>
#include <cstring>

namespace outhaul::http {
namespace {

std::uint16_t close_code_for(const Error& error) {
  return error.code() == ErrorCode::too_large ? websocket_close::too_big : websocket_close::protocol_error;
}

std::unexpected<Error> peer_closed(std::uint16_t code) {
  return std::unexpected(Error(ErrorCode::unavailable, "websocket: the peer closed the connection")
                             .with("close_code", std::to_string(code)));
}

}  // namespace

WebSocket::WebSocket(WebSocketRole role, UpgradedConnection upgraded, const Executor& executor,
                     std::size_t max_message_bytes)
    : role_(role),
      connection_(std::move(upgraded.connection)),
      already_read_(std::move(upgraded.already_read)),
      decoder_(role, max_message_bytes),
      turn_(executor) {}

Task<Result<std::size_t>> WebSocket::read_some(std::span<char> into) {
  if (already_read_.empty()) return connection_->read_some(into);
  return take_already_read(into);
}

Task<Result<std::size_t>> WebSocket::take_already_read(std::span<char> into) {
  const auto count = std::min(into.size(), already_read_.size());
  std::memcpy(into.data(), already_read_.data(), count);
  already_read_.erase(0, count);
  if (already_read_.empty()) already_read_ = Bytes();
  co_return count;
}

Task<Result<Bytes>> WebSocket::receive() {
  for (;;) {
    OUTHAUL_CO_TRY(count, co_await read_some(decoder_.prepare()));
    if (count == 0) co_return peer_closed(websocket_close::none);
    auto event = decoder_.commit(count);
    if (!event) {
      co_await close(close_code_for(event.error()), event.error().what());
      co_return fail(std::move(event).error());
    }
    if (!*event) continue;
    if ((*event)->kind == WebSocketDecoder::EventKind::message) co_return std::move((*event)->payload);
    OUTHAUL_CO_CHECK(co_await take_control(std::move(**event)));
  }
}

Task<Result<void>> WebSocket::take_control(WebSocketDecoder::Event event) {
  if (event.kind == WebSocketDecoder::EventKind::ping)
    co_return co_await write(WebSocketOpcode::pong, event.payload);
  if (event.kind == WebSocketDecoder::EventKind::pong) co_return Result<void>();
  co_await close(websocket_close::normal, "");
  co_return peer_closed(event.close_code);
}

Task<Result<void>> WebSocket::write(WebSocketOpcode opcode, ByteView payload) {
  const auto turn = co_await turn_.take();
  if (is_closing_) co_return fail(ErrorCode::unavailable, "websocket: closed");
  is_closing_ = opcode == WebSocketOpcode::close;
  const WebSocketHeader header = make_websocket_header(role_, opcode, payload.size());
  co_return co_await connection_->write_all(header.view(), payload);
}

Task<Result<void>> WebSocket::send(ByteView message) { return write(WebSocketOpcode::binary, message); }
Task<Result<void>> WebSocket::ping(ByteView payload) { return write(WebSocketOpcode::ping, payload); }

Task<void> WebSocket::close(std::uint16_t code, std::string reason) {
  const Bytes payload = make_close_payload(code, reason);
  // A peer that is gone needs no farewell.
  static_cast<void>(co_await write(WebSocketOpcode::close, payload));
  connection_->close();
}

}  // namespace outhaul::http
