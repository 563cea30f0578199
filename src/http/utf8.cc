#include "http/utf8.h"

#include <cstdint>

namespace outhaul::http {
namespace {

struct Lead {
  std::size_t size;         // of the whole character; 0: no lead byte
  unsigned char low, high;  // bounds of the second byte, which shut out overlong forms and surrogates
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xc2 && byte <= 0xdf) return {2, 0x80, 0xbf};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte >= 0xe1 && byte <= 0xef) return {3, 0x80, 0xbf};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3) return {4, 0x80, 0xbf};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

bool is_character(std::string_view bytes, const Lead& lead) {
  const auto second = static_cast<unsigned char>(bytes[1]);
  if (second < lead.low || second > lead.high) return false;
  for (const char c : bytes.substr(2, lead.size - 2)) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) return false;
  }
  return true;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
    if (lead.size == 0 || text.size() - at < lead.size) break;
    if (lead.size > 1 && !is_character(text.substr(at), lead)) break;
    at += lead.size;
  }
  return at;
}

}  // namespace outhaul::http
