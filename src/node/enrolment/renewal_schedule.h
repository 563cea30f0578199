// RenewalSchedule: when a node asks for its next certificate. Pure; the keeper does the waiting.
//
// Ageing is measured on the node's own clocks and never compared with the hub's, so that clocks which
// disagree neither hurry nor delay it. The monotonic clock stands still while a machine sleeps, the wall
// clock may be stepped: whichever says that two thirds have passed is believed, for a renewal too early
// costs nothing.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "wire/session.h"

namespace outhaul::node {

// As the certificate says it.
struct CertificateLife {
  WallTime issued_at;
  WallTime expires_at;
  Duration span() const { return expires_at - issued_at; }
};

class RenewalSchedule {
 public:
  // After so long the clocks are looked at again, whatever is due: a machine may have slept.
  static constexpr Duration longest_wait = std::chrono::minutes(10);
  // Of the pause after a failed attempt; less for a certificate that lives for a short time only.
  static constexpr Duration first_pause = std::chrono::seconds(30);
  static constexpr Duration longest_pause = std::chrono::hours(1);

  // A certificate that was found at start: its age is what the wall clock says. `seed` spreads nodes that
  // enrolled together.
  RenewalSchedule(std::string_view seed, CertificateLife life, wire::Now now);

  // How long to wait before the next look; zero: ask now.
  Duration wait(wire::Now now) const;
  // The hub gave this one, just now.
  void note_renewed(CertificateLife life, wire::Now now);
  // An attempt failed. `is_final`: asking again soon is useless, an operator must act first.
  void note_failed(bool is_final, wire::Now now);
  // The hub wants a renewal, or the present certificate is refused. A pause that runs is kept.
  void hasten() { is_hastened_ = true; }
  // The moment at which two thirds, and the jitter, have passed.
  Duration due_age() const { return due_age_; }

 private:
  Duration age(wire::Now now) const;
  Duration draw(Duration most);

  std::uint64_t state_;
  CertificateLife life_;
  // When it was taken, and how old it was then.
  wire::Now taken_;
  Duration age_when_taken_{};
  Duration due_age_{};
  bool is_hastened_ = false;
  unsigned failures_ = 0;
  TimePoint paused_until_{};
};

}  // namespace outhaul::node
