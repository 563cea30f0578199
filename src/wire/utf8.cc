#include "wire/utf8.h"

#include <algorithm>
#include <iterator>

namespace outhaul::wire {
namespace {

// The well-formed sequences of the Unicode Standard (table 3-7), by their first two bytes: what is missing
// here are overlong forms, surrogates and numbers that no character has.
struct Form {
  unsigned char first_lead;
  unsigned char last_lead;
  unsigned char first_second;
  unsigned char last_second;
  std::size_t bytes;
};
constexpr Form forms[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

constexpr unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Bytes of the character that starts here; 0 when none does.
std::size_t character_bytes(std::string_view rest) {
  const auto lead = byte_at(rest, 0);
  if (lead < 0x80) return 1;
  const auto* form = std::ranges::find_if(
      forms, [lead](const Form& f) { return f.first_lead <= lead && lead <= f.last_lead; });
  if (form == std::end(forms) || rest.size() < form->bytes) return 0;
  const auto second = byte_at(rest, 1);
  if (second < form->first_second || second > form->last_second) return 0;
  const auto tail = rest.substr(2, form->bytes - 2);
  const bool is_tail =
      std::ranges::all_of(tail, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; });
  return is_tail ? form->bytes : 0;
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
