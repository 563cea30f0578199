// Frames: what a carrier's messages are made of. One message holds one or more whole frames.
//
//   bytes 0..3  channel id, little-endian; 0 is the session
//   byte  4     kind
//   byte  5     flags: bit 0 = "more follows" (control and open only), the rest 0
//   bytes 6..7  payload length, little-endian, 0..max_frame_payload_bytes
//
// A frame that breaks a rule is `protocol_violation`; so is an unknown kind. Nothing here is repeated in
// a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::wire {

enum class FrameKind : std::uint8_t {
  open = 1,     // v1::Open
  accept = 2,   // v1::Accept
  refuse = 3,   // v1::Refuse
  data = 4,     // 1..max_frame_payload_bytes of the channel's bytes
  credit = 5,   // u32 > 0: so many more Data bytes may be sent
  finish = 6,   // empty: the sender's direction ends in order
  reset = 7,    // u16 length and a stable code: both directions end now
  control = 8,  // v1::Control, on channel 0 only
};

inline constexpr std::size_t frame_header_bytes = 8;
inline constexpr std::size_t max_frame_payload_bytes = 16384;
// Four full frames. A carrier refuses a longer message before it reads it.
inline constexpr std::size_t max_message_bytes = 4 * (max_frame_payload_bytes + frame_header_bytes);
inline constexpr std::size_t max_reset_code_bytes = 64;

// One frame inside a message; `payload` points into the message.
struct Frame {
  std::uint32_t channel = 0;
  FrameKind kind = FrameKind::control;
  bool more_follows = false;
  ByteView payload;
  bool operator==(const Frame&) const = default;
};

// Reads the frames of one message in order. The message outlives the reader and its frames.
class FrameReader {
 public:
  explicit FrameReader(ByteView message) : rest_(message) {}
  // The next frame, or empty at the end of the message. Fails with `protocol_violation`, and then again
  // at each further call. Frames before the fault were whole and legal.
  Result<std::optional<Frame>> next();

 private:
  ByteView rest_;
};

// What a legal payload of kind credit or reset says.
std::uint32_t credit_of(const Frame& frame);
std::string_view reset_code_of(const Frame& frame);

// Appends a header; the caller appends exactly `payload_bytes` after it.
void append_frame_header(Bytes& message, std::uint32_t channel, FrameKind kind, std::size_t payload_bytes,
                         bool more_follows = false);
void append_frame(Bytes& message, const Frame& frame);
void append_credit(Bytes& message, std::uint32_t channel, std::uint32_t bytes);
// `code` is at most max_reset_code_bytes of [a-z_].
void append_reset(Bytes& message, std::uint32_t channel, std::string_view code);

}  // namespace outhaul::wire
