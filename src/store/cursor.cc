#include "store/cursor.h"

#include <cstdint>

namespace outhaul::store {
namespace {

// base64url without padding: a cursor travels in query strings.
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
// Longer than any id; a hostile cursor is not worth decoding.
constexpr std::size_t max_cursor_bytes = 96;

}  // namespace

std::string make_cursor(std::string_view id_text) {
  std::string cursor;
  std::uint32_t held = 0;
  int held_bits = 0;
  for (const char c : id_text) {
    held = held << 8U | static_cast<std::uint8_t>(c);
    for (held_bits += 8; held_bits >= 6; held_bits -= 6) {
      cursor.push_back(alphabet[held >> static_cast<unsigned>(held_bits - 6) & 63U]);
    }
  }
  if (held_bits > 0) cursor.push_back(alphabet[held << static_cast<unsigned>(6 - held_bits) & 63U]);
  return cursor;
}

std::optional<std::string> parse_cursor(std::string_view cursor) {
  if (cursor.empty() || cursor.size() > max_cursor_bytes) return std::nullopt;
  std::string text;
  std::uint32_t held = 0;
  int held_bits = 0;
  for (const char c : cursor) {
    const auto digit = alphabet.find(c);
    if (digit == alphabet.npos) return std::nullopt;
    held = held << 6U | static_cast<std::uint32_t>(digit);
    held_bits += 6;
    if (held_bits < 8) continue;
    held_bits -= 8;
    text.push_back(static_cast<char>(held >> static_cast<unsigned>(held_bits) & 255U));
  }
  // One text has one cursor: left-over bits must be the zeros that make_cursor wrote.
  if (make_cursor(text) != cursor) return std::nullopt;
  return text;
}

}  // namespace outhaul::store
