#include "stream/record_scan.h"

#include "stream/little_endian.h"

namespace outhaul::stream {
namespace {

// What a search may checksum, so that a payload of false headers does not make a start take minutes.
constexpr std::uint64_t max_search_bytes = 256U << 20U;

}  // namespace

bool has_zero_sector(ByteView file, std::uint64_t from, std::uint64_t to) {
  constexpr std::uint64_t sector = 512;
  for (std::uint64_t at = (from + sector - 1) / sector * sector; at + sector <= to; at += sector) {
    if (file.substr(at, sector).find_first_not_of('\0') == file.npos) return true;
  }
  return false;
}

bool is_damaged(ByteView rest, std::uint64_t expected) {
  constexpr ByteView magic("RO", 2);  // 0x4f52, low byte first
  std::uint64_t searched = 0;
  for (auto at = rest.find(magic, 1); at != rest.npos; at = rest.find(magic, at + 1)) {
    const auto header = parse_record_header(rest.substr(at));
    // A gap before it may have moved the offset anywhere, but a record never begins before its predecessor
    // ends.
    if (!header || header->offset < expected) continue;
    if (parse_record(rest.substr(at))) return !has_zero_sector(rest, 0, at);
    searched += header->length;
    if (searched > max_search_bytes) return false;
  }
  return false;
}

}  // namespace outhaul::stream
