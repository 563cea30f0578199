// Descriptor: one owned file descriptor. now_ns, wall_ns: the two clocks in nanoseconds.
#pragma once

#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace outhaul::launcher {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  void reset() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

inline constexpr std::int64_t ns_per_ms = 1'000'000;
inline constexpr std::int64_t ns_per_s = 1'000'000'000;

inline std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * ns_per_s + time.tv_nsec;
}
inline std::int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
inline std::int64_t wall_ns() { return read_clock(CLOCK_REALTIME); }

}  // namespace outhaul::launcher
