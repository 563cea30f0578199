// SystemRandom: bytes from the kernel, for everything in a real process that must be unpredictable.
#pragma once

#include "base/random.h"

namespace outhaul::crypto {

class SystemRandom final : public Random {
 public:
  // Blocks only before the kernel's pool is ready, early in the boot. Safe from any thread.
  Bytes bytes(std::size_t count) override;
};

}  // namespace outhaul::crypto
