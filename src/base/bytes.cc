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

std::string to_base64(ByteView bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto left = bytes.size() - at;
    const auto octet = [&](std::size_t i) {
      return i < left ? std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} : 0U;
    };
    const std::uint32_t group = octet(0) << 16U | octet(1) << 8U | octet(2);
    text.push_back(digits[group >> 18U & 63U]);
    text.push_back(digits[group >> 12U & 63U]);
    text.push_back(left > 1 ? digits[group >> 6U & 63U] : '=');
    text.push_back(left > 2 ? digits[group & 63U] : '=');
  }
  return text;
}

}  // namespace outhaul
