#include "http/websocket_codec.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "http/utf8.h"

namespace outhaul::http {
namespace {

constexpr unsigned char final_bit = 0x80;
constexpr unsigned char reserved_bits = 0x70;
constexpr unsigned char mask_bit = 0x80;
constexpr std::size_t mask_bytes = 4;
constexpr std::uint64_t max_short_length = 125;
constexpr std::uint64_t max_two_byte_length = 0xffff;
constexpr unsigned char two_byte_length = 126;
constexpr unsigned char eight_byte_length = 127;

bool is_control(WebSocketOpcode opcode) { return static_cast<unsigned char>(opcode) >= 8; }

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

std::uint64_t load_big_endian(const unsigned char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

// Codes that may stand on the wire: RFC 6455 7.4.2, without the ones reserved for local use.
bool is_sendable_close_code(std::uint16_t code) {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

// Grows without writing zeros that would only be overwritten. The operation is told the new capacity by
// libstdc++ 12, not the size asked for: hence the capture.
void grow(Bytes& bytes, std::size_t by) {
  const auto wanted = bytes.size() + by;
  bytes.resize_and_overwrite(wanted, [wanted](char*, std::size_t) { return wanted; });
}

}  // namespace

WebSocketHeader make_websocket_header(WebSocketRole sender, WebSocketOpcode opcode,
                                      std::uint64_t payload_bytes) {
  WebSocketHeader header;
  const auto put = [&](std::uint64_t byte) { header.bytes[header.size++] = static_cast<char>(byte); };
  const std::uint64_t mask = sender == WebSocketRole::client ? mask_bit : 0;
  put(final_bit | static_cast<unsigned char>(opcode));
  if (payload_bytes <= max_short_length) {
    put(mask | payload_bytes);
  } else if (payload_bytes <= max_two_byte_length) {
    put(mask | two_byte_length);
    for (int shift = 8; shift >= 0; shift -= 8) put(payload_bytes >> shift & 0xff);
  } else {
    put(mask | eight_byte_length);
    for (int shift = 56; shift >= 0; shift -= 8) put(payload_bytes >> shift & 0xff);
  }
  if (mask != 0) header.size = static_cast<std::uint8_t>(header.size + mask_bytes);  // the zero key
  return header;
}

Bytes make_close_payload(std::uint16_t code, std::string_view reason) {
  Bytes payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  reason = reason.substr(0, WebSocketDecoder::max_control_bytes - payload.size());
  return payload.append(reason.substr(0, valid_utf8_prefix(reason)));
}

WebSocketDecoder::WebSocketDecoder(WebSocketRole receiver, std::size_t max_message_bytes)
    : receiver_(receiver), max_message_bytes_(max_message_bytes) {}

std::size_t WebSocketDecoder::header_bytes_needed() const {
  // A masked frame has six bytes at least; reading them at once saves a call a frame.
  const std::size_t mask = receiver_ == WebSocketRole::server ? mask_bytes : 0;
  if (header_size_ < 2) return 2 + mask;
  const auto length = static_cast<unsigned char>(header_[1] & ~mask_bit);
  if (length == two_byte_length) return 2 + 2 + mask;
  if (length == eight_byte_length) return 2 + 8 + mask;
  return 2 + mask;
}

WebSocketOpcode WebSocketDecoder::opcode() const { return static_cast<WebSocketOpcode>(header_[0] & 0x0f); }

std::span<char> WebSocketDecoder::prepare() {
  if (in_payload_) {
    Bytes& payload = is_control(opcode()) ? control_ : message_;
    return std::span(payload).subspan(frame_begin_ + filled_, frame_bytes_ - filled_);
  }
  auto* header = reinterpret_cast<char*>(header_.data());
  return {header + header_size_, header_bytes_needed() - header_size_};
}

Result<std::optional<WebSocketDecoder::Event>> WebSocketDecoder::commit(std::size_t count) {
  OUTHAUL_ASSERT(count >= 1 && count <= prepare().size());
  if (!in_payload_) {
    header_size_ += count;
    return take_header();
  }
  unmask(filled_, count);
  filled_ += count;
  if (filled_ < frame_bytes_) return std::nullopt;
  return end_frame();
}

Result<std::optional<WebSocketDecoder::Event>> WebSocketDecoder::take_header() {
  if (header_size_ < 2) return std::nullopt;
  OUTHAUL_CHECK(check_first_bytes());
  if (header_size_ < header_bytes_needed()) return std::nullopt;
  const auto short_length = static_cast<unsigned char>(header_[1] & ~mask_bit);
  std::uint64_t payload_bytes = short_length;
  if (short_length == two_byte_length) payload_bytes = load_big_endian(&header_[2], 2);
  if (short_length == eight_byte_length) payload_bytes = load_big_endian(&header_[2], 8);
  OUTHAUL_CHECK(check_lengths(payload_bytes));
  begin_payload(static_cast<std::size_t>(payload_bytes));
  if (payload_bytes == 0) return end_frame();
  return std::nullopt;
}

Result<void> WebSocketDecoder::check_first_bytes() const {
  if ((header_[0] & reserved_bits) != 0) return violation("websocket: reserved bits without an extension");
  const bool is_masked = (header_[1] & mask_bit) != 0;
  if (is_masked != (receiver_ == WebSocketRole::server)) {
    return violation(is_masked ? "websocket: a masked frame from a server"
                               : "websocket: an unmasked frame from a client");
  }
  switch (opcode()) {
    case WebSocketOpcode::continuation:
      if (!in_message_) return violation("websocket: a continuation of nothing");
      return {};
    case WebSocketOpcode::binary:
      if (in_message_) return violation("websocket: a new message inside a fragmented one");
      return {};
    case WebSocketOpcode::text: return violation("websocket: a text message");
    case WebSocketOpcode::close:
    case WebSocketOpcode::ping:
    case WebSocketOpcode::pong:
      if ((header_[0] & final_bit) == 0) return violation("websocket: a fragmented control frame");
      return {};
  }
  return violation("websocket: a reserved opcode");
}

Result<void> WebSocketDecoder::check_lengths(std::uint64_t payload_bytes) const {
  const auto short_length = static_cast<unsigned char>(header_[1] & ~mask_bit);
  if ((short_length == two_byte_length && payload_bytes <= max_short_length) ||
      (short_length == eight_byte_length && payload_bytes <= max_two_byte_length)) {
    return violation("websocket: a length in a longer form than it needs");
  }
  if (is_control(opcode())) {
    if (payload_bytes > max_control_bytes)
      return violation("websocket: a control frame of more than 125 bytes");
    return {};
  }
  if (payload_bytes > max_message_bytes_ - message_.size()) {
    return std::unexpected(Error(ErrorCode::too_large, "websocket: the message is over its limit")
                               .with("limit_bytes", std::to_string(max_message_bytes_)));
  }
  if (fragments_ == max_fragments) return violation("websocket: more than 64 fragments in one message");
  return {};
}

void WebSocketDecoder::begin_payload(std::size_t payload_bytes) {
  Bytes& payload = is_control(opcode()) ? control_ : message_;
  frame_begin_ = payload.size();
  frame_bytes_ = payload_bytes;
  filled_ = 0;
  in_payload_ = true;
  grow(payload, payload_bytes);
  if (is_control(opcode())) return;
  in_message_ = true;
  ++fragments_;
}

// Key 0 is the usual one between our own programs; skipping it is what makes masking free.
void WebSocketDecoder::unmask(std::size_t from, std::size_t count) {
  if (receiver_ == WebSocketRole::client) return;
  const unsigned char* key = &header_[header_bytes_needed() - mask_bytes];
  if (load_big_endian(key, mask_bytes) == 0) return;
  Bytes& payload = is_control(opcode()) ? control_ : message_;
  for (std::size_t i = from; i < from + count; ++i) {
    char& byte = payload[frame_begin_ + i];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ key[i % mask_bytes]);
  }
}

Result<std::optional<WebSocketDecoder::Event>> WebSocketDecoder::end_frame() {
  const bool is_final = (header_[0] & final_bit) != 0;
  const bool is_control_frame = is_control(opcode());
  header_size_ = 0;
  in_payload_ = false;
  if (is_control_frame) return end_control();
  if (!is_final) return std::nullopt;
  in_message_ = false;
  fragments_ = 0;
  return Event{.kind = EventKind::message, .payload = std::exchange(message_, Bytes())};
}

Result<std::optional<WebSocketDecoder::Event>> WebSocketDecoder::end_control() {
  Bytes payload = std::exchange(control_, Bytes());
  if (opcode() == WebSocketOpcode::ping) return Event{.kind = EventKind::ping, .payload = std::move(payload)};
  if (opcode() == WebSocketOpcode::pong) return Event{.kind = EventKind::pong, .payload = std::move(payload)};
  Event event{.kind = EventKind::close, .payload = {}};
  if (payload.empty()) return event;
  if (payload.size() == 1) return violation("websocket: half a close code");
  const auto* bytes = reinterpret_cast<const unsigned char*>(payload.data());
  event.close_code = static_cast<std::uint16_t>(load_big_endian(bytes, 2));
  event.payload = payload.substr(2);
  if (!is_sendable_close_code(event.close_code))
    return violation("websocket: a close code that may not be sent");
  if (!is_utf8(event.payload)) return violation("websocket: a close reason that is not UTF-8");
  return event;
}

}  // namespace outhaul::http
