#include "wire/backoff.h"

#include <algorithm>

namespace outhaul::wire {
namespace {

// FNV-1a: spreads ids that differ in one letter over the whole seed space.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Backoff::Backoff(std::string_view seed, Limits limits) : limits_(limits), state_(hash_of(seed)) {}

// splitmix64 (Steele, Lea and Flood, 2014).
std::uint64_t Backoff::draw() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27U) * 0x94d049bb133111eb;
  return z ^ z >> 31U;
}

Duration Backoff::next(std::optional<Duration> retry_after) {
  // 2^16 times any sensible first wait is over the cap.
  const auto doublings = std::min(failures_, 16U);
  ++failures_;
  const auto bound = std::min(limits_.most, limits_.first * (1U << doublings));
  const auto jitter =
      Duration(static_cast<Duration::rep>(draw() % static_cast<std::uint64_t>(bound.count() + 1)));
  if (!retry_after) return jitter;
  return std::clamp(*retry_after, Duration::zero(), limits_.most_retry_after) + jitter;
}

void Backoff::note_session(Duration lasted) {
  failures_ = lasted >= limits_.most ? 0 : std::min(failures_, 1U);
}

}  // namespace outhaul::wire
