#include "wire/utf8.h"

namespace outhaul::wire {
namespace {

// Bytes of the character that starts here; 0 when none does.
std::size_t character_bytes(std::string_view rest) {
  const auto at = [&](std::size_t i) { return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U; };
  const auto is_tail = [&](std::size_t i) { return at(i) >= 0x80 && at(i) < 0xc0; };
  const auto lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return is_tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead < 0xf0) {
    if ((lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) >= 0xa0)) return 0;
    return is_tail(1) && is_tail(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead < 0xf5) {
    if ((lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) >= 0x90)) return 0;
    return is_tail(1) && is_tail(2) && is_tail(3) ? 4 : 0;
  }
  return 0;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string printable_utf8(std::string_view text, std::size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    const auto bytes = character_bytes(text);
    const auto taken = bytes == 0 ? 1 : bytes;
    if (out.size() + taken > max_bytes) break;
    if (bytes == 0) {
      out.push_back('?');
    } else if (is_control(text.front())) {
      out.push_back(' ');
    } else {
      out.append(text, 0, bytes);
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace outhaul::wire
