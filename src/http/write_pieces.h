// WritePieces: what is left of the views that one write_all() was given.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/bytes.h"

namespace outhaul::http {

class WritePieces {
 public:
  static constexpr std::size_t max_record_bytes = 16 * 1024;  // one TLS record
  using Scratch = std::array<char, max_record_bytes>;

  WritePieces(ByteView first, ByteView second, ByteView third) : pieces_{first, second, third} {}

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
  std::array<iovec, 3> vectors() const {
    std::array<iovec, 3> vectors{};
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      vectors[i] = {const_cast<char*>(pieces_[i].data()), pieces_[i].size()};
    }
    return vectors;
  }
  std::size_t size() const { return pieces_[0].size() + pieces_[1].size() + pieces_[2].size(); }

 private:
  std::array<ByteView, 3> pieces_;
};

}  // namespace outhaul::http
