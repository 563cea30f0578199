// SeededRandom: a Random whose bytes are decided by a seed (SplitMix64). For tests only: predictable.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace outhaul::testing {

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  Bytes bytes(std::size_t count) override {
    Bytes drawn;
    drawn.reserve(count + sizeof(std::uint64_t));
    while (drawn.size() < count) {
      std::uint64_t word = next();
      for (std::size_t i = 0; i < sizeof word; ++i, word >>= 8U)
        drawn.push_back(static_cast<char>(word & 0xffU));
    }
    drawn.resize(count);
    return drawn;
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

}  // namespace outhaul::testing
