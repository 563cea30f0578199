// Incarnation and StreamPosition: which making of a stream, and how far in it.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"
#include "base/random.h"

namespace outhaul::stream {

// Eight random bytes that the writer draws when it makes a stream: a stream that was lost and made
// again under the same id is told from the first.
class Incarnation {
 public:
  static constexpr std::size_t size_bytes = 8;
  Incarnation() = default;  // all zero: none
  static Incarnation make(Random& random);
  // Exactly size_bytes; else `invalid`.
  static Result<Incarnation> parse(ByteView bytes);
  Bytes bytes() const { return {bytes_.data(), bytes_.size()}; }
  auto operator<=>(const Incarnation&) const = default;

 private:
  std::array<char, size_bytes> bytes_{};
};

struct StreamPosition {
  std::uint64_t offset = 0;  // everything before it
  bool complete = false;     // and the record that completes the stream
  auto operator<=>(const StreamPosition&) const = default;
};

}  // namespace outhaul::stream
