#include "base/random.h"

#include <cstring>

#include "base/assert.h"

namespace outhaul {

std::uint64_t Random::below(std::uint64_t bound) {
  OUTHAUL_ASSERT(bound > 0);
  // Rejects the short last run of multiples, so that every result is equally likely.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    std::uint64_t drawn = 0;
    std::memcpy(&drawn, bytes(sizeof drawn).data(), sizeof drawn);
    if (drawn < limit) return drawn % bound;
  }
}

}  // namespace outhaul
