#include "base/bytes.h"

#include <cstdint>

namespace outhaul {

std::string to_hex(ByteView bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text.push_back(digits[byte >> 4U]);
    text.push_back(digits[byte & 15U]);
  }
  return text;
}

namespace {

std::optional<std::uint32_t> hex_digit(char c) {
  if ('0' <= c && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if ('a' <= c && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  if ('A' <= c && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
  return std::nullopt;
}

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t base64_group = 4;

// The bits of one whole group of which the last `padding` digits are '='; empty for any other text.
std::optional<std::uint32_t> group_bits(std::string_view group, std::size_t padding) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < base64_group; ++i) {
    const auto digit = i < base64_group - padding ? base64_digits.find(group[i]) : 0;
    if (digit == base64_digits.npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
  }
  // Bits that no byte takes must be zero, so that each value has one text.
  const auto unused = std::uint32_t{1} << (8U * padding);
  return bits % unused == 0 ? std::optional(bits) : std::nullopt;
}

}  // namespace

std::optional<Bytes> parse_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const auto high = hex_digit(text[at]);
    const auto low = hex_digit(text[at + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high << 4U | *low));
  }
  return bytes;
}

std::string to_base64(ByteView bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto left = bytes.size() - at;
    const auto octet = [&](std::size_t i) {
      return i < left ? std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} : 0U;
    };
    const std::uint32_t group = octet(0) << 16U | octet(1) << 8U | octet(2);
    text.push_back(base64_digits[group >> 18U & 63U]);
    text.push_back(base64_digits[group >> 12U & 63U]);
    text.push_back(left > 1 ? base64_digits[group >> 6U & 63U] : '=');
    text.push_back(left > 2 ? base64_digits[group & 63U] : '=');
  }
  return text;
}

std::optional<Bytes> parse_base64(std::string_view text) {
  if (text.size() % base64_group != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  Bytes bytes;
  bytes.reserve(text.size() / base64_group * 3);
  for (std::size_t at = 0; at < text.size(); at += base64_group) {
    const bool is_last = at + base64_group == text.size();
    const auto bits = group_bits(text.substr(at, base64_group), is_last ? padding : 0);
    if (!bits) return std::nullopt;
    for (const auto shift : {16U, 8U, 0U}) bytes.push_back(static_cast<char>(*bits >> shift & 255U));
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace outhaul
