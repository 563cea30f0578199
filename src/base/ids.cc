#include "base/ids.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace outhaul {
namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t ulid_chars = 26;
constexpr std::size_t random_bytes = 10;

// 128 bits as 26 digits of five bits; the topmost digit holds three.
std::string id_text(std::string_view prefix, unsigned __int128 value) {
  std::array<char, ulid_chars> digits{};
  for (std::size_t i = ulid_chars; i-- > 0; value >>= 5U)
    digits[i] = alphabet[static_cast<std::size_t>(value & 31U)];
  std::string text(prefix);
  text.push_back('_');
  text.append(digits.data(), digits.size());
  return text;
}

unsigned __int128 shift_in(unsigned __int128 value, ByteView bytes) {
  for (const char c : bytes) value = value << 8U | static_cast<std::uint8_t>(c);
  return value;
}

}  // namespace

std::string make_id_text(std::string_view prefix, WallTime now, Random& random) {
  const unsigned __int128 milliseconds =
      static_cast<std::uint64_t>(now.nanoseconds / 1'000'000) & 0xffff'ffff'ffffU;
  return id_text(prefix, shift_in(milliseconds, random.bytes(random_bytes)));
}

std::string id_text_of(std::string_view prefix, ByteView sixteen_bytes) {
  OUTHAUL_ASSERT(sixteen_bytes.size() == sizeof(unsigned __int128));
  return id_text(prefix, shift_in(0, sixteen_bytes));
}

bool is_id_text(std::string_view prefix, std::string_view text) {
  if (text.size() != prefix.size() + 1 + ulid_chars) return false;
  if (!text.starts_with(prefix) || text[prefix.size()] != '_') return false;
  const auto digits = text.substr(prefix.size() + 1);
  // A first digit above 7 would need more than 128 bits.
  if (digits.front() > '7') return false;
  return std::ranges::all_of(digits, [](char c) { return alphabet.find(c) != alphabet.npos; });
}

}  // namespace outhaul
