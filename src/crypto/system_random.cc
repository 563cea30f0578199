#include "crypto/system_random.h"

#include <sys/random.h>

#include <cerrno>

#include "base/assert.h"

namespace outhaul::crypto {

Bytes SystemRandom::bytes(std::size_t count) {
  Bytes drawn(count, '\0');
  for (std::size_t at = 0; at < count;) {
    const auto got = ::getrandom(drawn.data() + at, count - at, 0);
    // Only EINTR can happen here; going on with zeros for any other reason would be worse than stopping.
    OUTHAUL_ASSERT(got >= 0 || errno == EINTR);
    if (got > 0) at += static_cast<std::size_t>(got);
  }
  return drawn;
}

}  // namespace outhaul::crypto
