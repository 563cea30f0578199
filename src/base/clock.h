// Clock: the two times that a decision may read. Cores are handed the time; edges own a Clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace outhaul {

// Monotonic: durations, deadlines, leases. Never leaves the process.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

// Wall time: nanoseconds since 1970-01-01 UTC, as on the wire. May jump.
struct WallTime {
  std::int64_t nanoseconds = 0;
  auto operator<=>(const WallTime&) const = default;
  WallTime operator+(std::chrono::nanoseconds span) const { return {nanoseconds + span.count()}; }
  WallTime operator-(std::chrono::nanoseconds span) const { return {nanoseconds - span.count()}; }
  std::chrono::nanoseconds operator-(WallTime other) const {
    return std::chrono::nanoseconds(nanoseconds - other.nanoseconds);
  }
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual WallTime wall_now() const = 0;
};

}  // namespace outhaul
