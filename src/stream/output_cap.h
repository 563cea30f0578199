// OutputCap: keeps the first bytes of an output as they come and the last ones at its end, and counts
// exactly what lies between. Pure. Hash what was produced before you feed it here.
#pragma once

#include <cstdint>
#include <limits>

#include "base/bytes.h"

namespace outhaul::stream {

class OutputCap {
 public:
  static constexpr std::uint64_t no_cap = std::numeric_limits<std::uint64_t>::max();
  // Keeps `first` bytes live and `last` (held in memory) after the gap.
  explicit OutputCap(std::uint64_t first = no_cap, std::size_t last = 0) : first_left_(first), last_(last) {}

  // What of `produced` goes out now: its front, or nothing.
  ByteView pass(ByteView produced);

  struct Rest {
    std::uint64_t missing = 0;  // the size of the gap; 0: none
    Bytes last;                 // what follows it
  };
  // The output has ended.
  Rest finish();

 private:
  void keep_last(ByteView bytes);

  std::uint64_t first_left_;
  std::size_t last_;
  std::uint64_t held_back_ = 0;  // bytes that were not passed
  Bytes kept_;                   // the last of them: up to twice last_, so that it is cut rarely
};

}  // namespace outhaul::stream
