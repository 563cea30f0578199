// Random: unpredictable bytes. The real one asks the kernel (crypto/system_random.h); the simulated
// one is decided by a seed.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace outhaul {

class Random {
 public:
  virtual ~Random() = default;
  virtual Bytes bytes(std::size_t count) = 0;
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
};

}  // namespace outhaul
