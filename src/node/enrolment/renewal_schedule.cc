#include "node/enrolment/renewal_schedule.h"

#include <algorithm>

namespace outhaul::node {
namespace {

// Of the life: the renewal falls between two thirds and two thirds and a twentieth.
constexpr int jitter_part = 20;
// A short life has short pauses: enough attempts must fit into its last third.
constexpr int first_pause_part = 50;
constexpr int longest_pause_part = 10;
constexpr unsigned most_doublings = 16;

// FNV-1a, as wire/backoff.cc.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

RenewalSchedule::RenewalSchedule(std::string_view seed, CertificateLife life, wire::Now now)
    : state_(hash_of(seed)) {
  note_renewed(life, now);
  age_when_taken_ = std::max(Duration(now.wall - life.issued_at), Duration(0));
}

// splitmix64.
Duration RenewalSchedule::draw(Duration most) {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27U) * 0x94d049bb133111eb;
  return Duration(static_cast<Duration::rep>((z ^ z >> 31U) % static_cast<std::uint64_t>(most.count() + 1)));
}

Duration RenewalSchedule::age(wire::Now now) const {
  const Duration by_wall = now.wall - taken_.wall;
  return age_when_taken_ + std::max(now.steady - taken_.steady, by_wall);
}

Duration RenewalSchedule::wait(wire::Now now) const {
  Duration left = is_hastened_ ? Duration(0) : due_age_ - age(now);
  left = std::max(left, paused_until_ - now.steady);
  return std::clamp(left, Duration(0), longest_wait);
}

void RenewalSchedule::note_renewed(CertificateLife life, wire::Now now) {
  // A certificate that ends before it begins is asked for anew at once, and then paused for.
  life.expires_at = std::max(life.expires_at, life.issued_at);
  life_ = life;
  taken_ = now;
  age_when_taken_ = Duration(0);
  due_age_ = life.span() * 2 / 3 + draw(life.span() / jitter_part);
  is_hastened_ = false;
  failures_ = 0;
  paused_until_ = now.steady;
}

void RenewalSchedule::note_failed(bool is_final, wire::Now now) {
  const auto longest = std::min(longest_pause, life_.span() / longest_pause_part);
  const auto first = std::min(first_pause, life_.span() / first_pause_part);
  const auto bound =
      is_final ? longest : std::min(longest, first * (1U << std::min(failures_, most_doublings)));
  ++failures_;
  // At least half of it: a hub that is away is not asked twice at once.
  paused_until_ = now.steady + bound / 2 + draw(bound / 2);
}

}  // namespace outhaul::node
