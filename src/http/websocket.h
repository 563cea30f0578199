// WebSocket: whole binary messages in both directions over a Connection that has been upgraded.
// Runs on one strand: one receive() at a time; any number of send(), which take turns.
#pragma once

#include <memory>
#include <string>

#include "http/connection.h"
#include "http/request_context.h"
#include "http/websocket_codec.h"
#include "http/write_turn.h"

namespace outhaul::http {

class WebSocket {
 public:
  WebSocket(WebSocketRole role, UpgradedConnection upgraded, const Executor& executor,
            std::size_t max_message_bytes);

  // The next message. Answers pings by itself. Cancelling between messages loses nothing.
  //   errors  unavailable: the peer closed or left; its code is detail "close_code".
  //           protocol_violation, too_large: the peer was told (1002, 1009) and the connection closed
  Task<Result<Bytes>> receive();
  // Completes when the kernel has it. Fails with `unavailable`.
  Task<Result<void>> send(ByteView message);
  Task<Result<void>> ping(ByteView payload);
  // Sends a close frame, at most once, and closes the connection without waiting for the answer. Waits for
  // a send in progress: give it a deadline.
  Task<void> close(std::uint16_t code, std::string reason);
  void kill() { connection_->kill(); }
  Connection& connection() { return *connection_; }
  const Connection& connection() const { return *connection_; }

 private:
  Task<Result<std::size_t>> read_some(std::span<char> into);
  Task<Result<std::size_t>> take_already_read(std::span<char> into);
  Task<Result<void>> take_control(WebSocketDecoder::Event event);
  Task<Result<void>> write(WebSocketOpcode opcode, ByteView payload);

  WebSocketRole role_;
  std::unique_ptr<Connection> connection_;
  Bytes already_read_;
  WebSocketDecoder decoder_;
  WriteTurn turn_;
  bool is_closing_ = false;
};

}  // namespace outhaul::http
