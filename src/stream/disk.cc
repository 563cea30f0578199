#include "stream/disk.h"

#include <fmt/format.h>

#include <algorithm>

namespace outhaul::stream {

bool is_file_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view others = "0123456789._-";
  if (name.empty() || name.size() > max_file_name_bytes || !letters.contains(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return letters.contains(c) || others.contains(c); });
}

Result<std::string> set_aside(Disk& disk, const std::string& name) {
  OUTHAUL_TRY(entries, disk.list());
  const auto is_taken = [&](const std::string& wanted) {
    return std::ranges::any_of(entries, [&](const FileEntry& entry) { return entry.name == wanted; });
  };
  std::uint64_t number = 1;
  const auto aside = [&] { return fmt::format("{}{}-{}", aside_prefix, number, name); };
  while (is_taken(aside())) ++number;
  OUTHAUL_CHECK(disk.rename(name, aside()));
  return aside();
}

}  // namespace outhaul::stream
