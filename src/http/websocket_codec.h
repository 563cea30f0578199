// WebSocket frames (RFC 6455) as a pure state machine: binary messages, ping, pong and close; no
// extensions, no text. The caller reads bytes straight into what prepare() gives, so a payload is copied
// once, by the kernel or by TLS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::http {

enum class WebSocketRole { client, server };

enum class WebSocketOpcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10
};

// Close codes of RFC 6455 7.4.1 that we send or look for.
namespace websocket_close {
inline constexpr std::uint16_t normal = 1000;
inline constexpr std::uint16_t going_away = 1001;
inline constexpr std::uint16_t protocol_error = 1002;
inline constexpr std::uint16_t unsupported = 1003;
inline constexpr std::uint16_t none = 1005;  // never on the wire: "the peer gave no code"
inline constexpr std::uint16_t too_big = 1009;
}  // namespace websocket_close

// The header of one unfragmented frame, 2..14 bytes. A client's frames are masked with key 0, which leaves
// the payload as it is (decisions/0022).
struct WebSocketHeader {
  std::array<char, 14> bytes{};
  std::uint8_t size = 0;
  ByteView view() const { return {bytes.data(), size}; }
};
WebSocketHeader make_websocket_header(WebSocketRole sender, WebSocketOpcode opcode,
                                      std::uint64_t payload_bytes);
// The payload of a close frame; `reason` is cut to 123 bytes.
Bytes make_close_payload(std::uint16_t code, std::string_view reason);

class WebSocketDecoder {
 public:
  static constexpr std::size_t max_control_bytes = 125;
  static constexpr std::size_t max_fragments = 64;

  enum class EventKind { message, ping, pong, close };
  struct Event {
    EventKind kind;
    Bytes payload;  // of close: the reason
    std::uint16_t close_code = websocket_close::none;
  };

  // `receiver` is our own role: a server takes only masked frames, a client only unmasked ones.
  WebSocketDecoder(WebSocketRole receiver, std::size_t max_message_bytes);

  // Where the next bytes belong, 1 byte or more; never beyond the frame, so nothing is read ahead.
  std::span<char> prepare();
  // `count` bytes (1..prepare().size()) were written there. Gives an event when one is complete.
  //   errors  protocol_violation: reserved bits or opcodes, wrong masking, a length in a longer form than
  //           needed, fragmented or long control frames, a continuation of nothing, text, bad close
  //           payload. too_large: the message passes max_message_bytes. After an error: no further call.
  Result<std::optional<Event>> commit(std::size_t count);
  // True when no frame and no message has begun: an end here loses nothing.
  bool is_between_messages() const { return header_size_ == 0 && !in_message_; }

 private:
  WebSocketOpcode opcode() const;
  std::size_t header_bytes_needed() const;
  Result<std::optional<Event>> take_header();
  Result<void> check_first_bytes() const;
  Result<void> check_lengths(std::uint64_t payload_bytes) const;
  void begin_payload(std::size_t payload_bytes);
  void unmask(std::size_t from, std::size_t count);
  Result<std::optional<Event>> end_frame();
  Result<std::optional<Event>> end_control();

  WebSocketRole receiver_;
  std::size_t max_message_bytes_;
  // The current frame: its header, and how much of its payload has come.
  std::array<unsigned char, 14> header_{};
  std::size_t header_size_ = 0;
  bool in_payload_ = false;
  std::size_t frame_begin_ = 0;  // where its payload starts in message_ or control_
  std::size_t frame_bytes_ = 0;
  std::size_t filled_ = 0;
  // The current message; control frames may come between its fragments.
  bool in_message_ = false;
  Bytes message_;
  Bytes control_;
  std::size_t fragments_ = 0;
};

}  // namespace outhaul::http
