// Stint: when a short-lived node has done its share. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace outhaul::node {

class Stint {
 public:
  // None of both: only a signal ends it.
  struct Limits {
    std::optional<std::uint64_t> tasks;  // so many were accepted, and are delivered
    std::optional<Duration> idle;        // it had nothing to do for so long, since the start too
  };
  struct Work {
    std::uint64_t accepted = 0;
    std::uint64_t open = 0;  // of them not delivered yet
    bool operator==(const Work&) const = default;
  };
  Stint(Limits limits, TimePoint now) : limits_(limits), idle_since_(now) {}

  // To be told whenever a task went, and at next_look().
  void note(Work work, TimePoint now) {
    if (work.open > 0 || work.accepted != work_.accepted) idle_since_ = now;
    work_ = work;
  }
  bool is_over(TimePoint now) const {
    if (work_.open > 0) return false;
    if (limits_.tasks && work_.accepted >= *limits_.tasks) return true;
    return limits_.idle && now - idle_since_ >= *limits_.idle;
  }
  // When time alone may end it at the earliest.
  TimePoint next_look(TimePoint now) const {
    if (!limits_.idle) return now + std::chrono::hours(1);
    return (work_.open > 0 ? now : idle_since_) + *limits_.idle;
  }

 private:
  Limits limits_;
  Work work_;
  TimePoint idle_since_;
};

}  // namespace outhaul::node
