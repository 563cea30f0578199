#include "wire/frame.h"

#include <algorithm>

#include "base/assert.h"

namespace outhaul::wire {
namespace {

constexpr std::uint8_t more_follows_flag = 1;
constexpr std::size_t credit_bytes = 4;
constexpr std::size_t reset_prefix_bytes = 2;

// Byte by byte: the wire is little-endian whatever the machine is; compilers make one load of it.
std::uint32_t read_u8(ByteView bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }
std::uint32_t read_u16(ByteView bytes, std::size_t at) {
  return read_u8(bytes, at) | read_u8(bytes, at + 1) << 8U;
}
std::uint32_t read_u32(ByteView bytes, std::size_t at) {
  return read_u16(bytes, at) | read_u16(bytes, at + 2) << 16U;
}

void append_u16(Bytes& out, std::uint32_t value) {
  out.push_back(static_cast<char>(value & 255U));
  out.push_back(static_cast<char>(value >> 8U & 255U));
}
void append_u32(Bytes& out, std::uint32_t value) {
  append_u16(out, value & 0xffffU);
  append_u16(out, value >> 16U);
}

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

bool may_be_split(FrameKind kind) { return kind == FrameKind::open || kind == FrameKind::control; }

bool is_code_word(ByteView word) {
  return !word.empty() && word.size() <= max_reset_code_bytes &&
         std::ranges::all_of(word, [](char c) { return ('a' <= c && c <= 'z') || c == '_'; });
}

Result<void> check_credit(const Frame& frame) {
  if (frame.payload.size() != credit_bytes) return violation("frame: credit of another size");
  if (credit_of(frame) == 0) return violation("frame: credit of nothing");
  return {};
}

// The length prefix covers exactly the rest, and the rest is a code word.
bool has_reset_code(const Frame& frame) {
  return frame.payload.size() >= reset_prefix_bytes &&
         read_u16(frame.payload, 0) == frame.payload.size() - reset_prefix_bytes &&
         is_code_word(reset_code_of(frame));
}

Result<void> check_payload(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::data:
      // An empty one would cost the receiver work and the sender no credit.
      if (frame.payload.empty()) return violation("frame: empty data");
      break;
    case FrameKind::credit: return check_credit(frame);
    case FrameKind::finish:
      if (!frame.payload.empty()) return violation("frame: finish with a payload");
      break;
    case FrameKind::reset:
      if (!has_reset_code(frame)) return violation("frame: reset without a legal code");
      break;
    case FrameKind::open:
    case FrameKind::accept:
    case FrameKind::refuse:
    case FrameKind::control:
      // A message without fields is legal; a split that carries nothing is a way to spin.
      if (frame.more_follows && frame.payload.empty()) return violation("frame: empty part of a message");
      break;
  }
  return {};
}

Result<void> check_frame(const Frame& frame) {
  if ((frame.channel == 0) != (frame.kind == FrameKind::control)) {
    return violation("frame: channel 0 carries control and nothing else does");
  }
  if (frame.more_follows && !may_be_split(frame.kind)) return violation("frame: this kind cannot be split");
  return check_payload(frame);
}

}  // namespace

Result<std::optional<Frame>> FrameReader::next() {
  if (rest_.empty()) return std::optional<Frame>();
  if (rest_.size() < frame_header_bytes) return violation("frame: cut header");
  const auto kind = read_u8(rest_, 4);
  const auto flags = read_u8(rest_, 5);
  const std::size_t length = read_u16(rest_, 6);
  if (kind < static_cast<unsigned>(FrameKind::open) || kind > static_cast<unsigned>(FrameKind::control)) {
    return violation("frame: unknown kind");
  }
  if ((flags & ~std::uint32_t{more_follows_flag}) != 0) return violation("frame: unknown flag");
  if (length > max_frame_payload_bytes) return violation("frame: payload over 16384 bytes");
  if (length > rest_.size() - frame_header_bytes) return violation("frame: cut payload");
  const Frame frame{.channel = read_u32(rest_, 0),
                    .kind = static_cast<FrameKind>(kind),
                    .more_follows = flags != 0,
                    .payload = rest_.substr(frame_header_bytes, length)};
  OUTHAUL_CHECK(check_frame(frame));
  rest_.remove_prefix(frame_header_bytes + length);
  return std::optional(frame);
}

std::uint32_t credit_of(const Frame& frame) { return read_u32(frame.payload, 0); }

std::string_view reset_code_of(const Frame& frame) { return frame.payload.substr(reset_prefix_bytes); }

void append_frame_header(Bytes& message, std::uint32_t channel, FrameKind kind, std::size_t payload_bytes,
                         bool more_follows) {
  OUTHAUL_ASSERT(payload_bytes <= max_frame_payload_bytes);
  append_u32(message, channel);
  message.push_back(static_cast<char>(kind));
  message.push_back(static_cast<char>(more_follows ? more_follows_flag : 0));
  append_u16(message, static_cast<std::uint32_t>(payload_bytes));
}

void append_frame(Bytes& message, const Frame& frame) {
  append_frame_header(message, frame.channel, frame.kind, frame.payload.size(), frame.more_follows);
  message.append(frame.payload);
}

void append_credit(Bytes& message, std::uint32_t channel, std::uint32_t bytes) {
  append_frame_header(message, channel, FrameKind::credit, credit_bytes);
  append_u32(message, bytes);
}

void append_reset(Bytes& message, std::uint32_t channel, std::string_view code) {
  OUTHAUL_ASSERT(is_code_word(code));
  append_frame_header(message, channel, FrameKind::reset, reset_prefix_bytes + code.size());
  append_u16(message, static_cast<std::uint32_t>(code.size()));
  message.append(code);
}

}  // namespace outhaul::wire
