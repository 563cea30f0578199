// WritePieces: what is left of the views that one write_all() was given.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace outhaul::http {

class WritePieces {
 public:
  static constexpr std::size_t max_record_bytes = 16 * 1024;  // one TLS record
  using Scratch = std::array<char, max_record_bytes>;

  WritePieces(ByteView first, ByteView second, ByteView third) : pieces_{first, second, third} {}
  explicit WritePieces(std::span<const ByteView> pieces) : pieces_(pieces.begin(), pieces.end()) {}

  bool is_empty() const {
    return std::ranges::all_of(pieces_, [](ByteView piece) { return piece.empty(); });
  }
  void consume(std::size_t count) {
    for (auto& piece : pieces_) {
      const auto taken = std::min(count, piece.size());
      piece.remove_prefix(taken);
      count -= taken;
    }
  }
  // The next record: straight from the pieces where one of them fills it, else gathered into `scratch`, so
  // that a short header does not cost a record of its own. The same until consume(), as OpenSSL wants.
  ByteView next_record(Scratch& scratch) const {
    const auto first = std::ranges::find_if(pieces_, [](ByteView piece) { return !piece.empty(); });
    const bool is_last = std::all_of(first + 1, pieces_.end(), [](ByteView piece) { return piece.empty(); });
    if (is_last || first->size() >= max_record_bytes) return first->substr(0, max_record_bytes);
    std::size_t size = 0;
    for (auto piece = first; piece != pieces_.end(); ++piece) {
      const auto part = piece->substr(0, scratch.size() - size);
      if (part.empty()) continue;  // memcpy takes no null, however few bytes it shall copy
      std::memcpy(scratch.data() + size, part.data(), part.size());
      size += part.size();
    }
    return {scratch.data(), size};
  }
  std::vector<iovec> vectors() const {
    std::vector<iovec> vectors;
    for (const auto piece : pieces_) vectors.push_back({const_cast<char*>(piece.data()), piece.size()});
    return vectors;
  }

 private:
  std::vector<ByteView> pieces_;
};

}  // namespace outhaul::http
