#include "stream/disk.h"

#include <algorithm>

namespace outhaul::stream {

bool is_file_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view others = "0123456789._-";
  if (name.empty() || name.size() > max_file_name_bytes || !letters.contains(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return letters.contains(c) || others.contains(c); });
}

}  // namespace outhaul::stream
