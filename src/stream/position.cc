#include "stream/position.h"

#include <algorithm>

namespace outhaul::stream {

Incarnation Incarnation::make(Random& random) {
  Incarnation made;
  std::ranges::copy(random.bytes(size_bytes), made.bytes_.begin());
  return made;
}

Result<Incarnation> Incarnation::parse(ByteView bytes) {
  if (bytes.size() != size_bytes) return fail(ErrorCode::invalid, "incarnation: not 8 bytes");
  Incarnation parsed;
  std::ranges::copy(bytes, parsed.bytes_.begin());
  return parsed;
}

}  // namespace outhaul::stream
