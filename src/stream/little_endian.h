// Fixed-width little-endian integers, as they stand in records, frames and files.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "base/bytes.h"

namespace outhaul::stream {

static_assert(std::endian::native == std::endian::little, "byte order: add swaps here");

// `to` has room for sizeof(Int).
template <class Int>
void put_le(char* to, Int value) {
  static_assert(std::is_integral_v<Int>);
  std::memcpy(to, &value, sizeof value);
}

// `from` holds at least sizeof(Int) bytes.
template <class Int>
Int get_le(const char* from) {
  static_assert(std::is_integral_v<Int>);
  Int value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The integer at `at`, which stands wholly inside `bytes`.
template <class Int>
Int get_le(ByteView bytes, std::size_t at) {
  Int value;
  std::memcpy(&value, bytes.substr(at, sizeof value).begin(), sizeof value);
  return value;
}

template <class Int>
void append_le(Bytes& to, Int value) {
  char raw[sizeof value];
  put_le(raw, value);
  to.append(raw, sizeof raw);
}

}  // namespace outhaul::stream
