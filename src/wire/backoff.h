// Backoff: when to dial again. Full jitter, seeded by the node's id, so that thousands of nodes that
// lose their hub at the same moment come back spread out, and each the same way in every replay.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace outhaul::wire {

class Backoff {
 public:
  struct Limits {
    Duration first = std::chrono::milliseconds(500);  // upper bound of the first wait; doubles
    Duration most = std::chrono::seconds(30);
    // What a hub may ask for at most: a mistaken retry_after must not strand a node for a day.
    Duration most_retry_after = std::chrono::minutes(10);
  };
  explicit Backoff(std::string_view seed) : Backoff(seed, Limits()) {}
  Backoff(std::string_view seed, Limits limits);

  // How long to wait after a failure. With `retry_after` at least that long (bounded by most_retry_after)
  // and jitter on top, because every node was told the same.
  Duration next(std::optional<Duration> retry_after = std::nullopt);
  // A session was welcomed and lasted so long. After at least `most` the next wait is a first one; a
  // shorter session only takes the wait back to at most twice `first`, so that a hub which welcomes and
  // dies is not stormed.
  void note_session(Duration lasted);

 private:
  std::uint64_t draw();
  Limits limits_;
  std::uint64_t state_;
  unsigned failures_ = 0;
};

}  // namespace outhaul::wire
