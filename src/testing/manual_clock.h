// ManualClock: an AsyncClock that moves only when a test says so. advance() rings the alarms that are due;
// after it the test drains its io_context (run_ready) to let the woken coroutines go on.
// Runs on one thread. Outlives the io_context whose coroutines sleep on it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "base/async_clock.h"

namespace outhaul::testing {

class ManualClock final : public AsyncClock {
 public:
  // Starts at a wall time of 2026-01-01 00:00:00 UTC.
  static constexpr WallTime default_start{1'767'225'600'000'000'000};

  explicit ManualClock(WallTime start = default_start) : wall_now_(start) {}

  TimePoint now() const override { return now_; }
  WallTime wall_now() const override { return wall_now_; }
  std::unique_ptr<Alarm> alarm_at(TimePoint when, const Executor& strand,
                                  std::function<void()> ring) override;

  // Moves both clocks on and wakes, in the order of their times, all sleepers that are due. A woken
  // coroutine that sleeps again counts from the new time: advance in steps where that matters.
  void advance(Duration span);
  // Steps the wall clock alone, as an administrator or NTP does. `span` may be negative.
  void step_wall(std::chrono::nanoseconds span) { wall_now_ = wall_now_ + span; }

  std::size_t sleepers() const { return sleepers_.size(); }
  // When the first sleeper is due; empty when nobody sleeps.
  std::optional<TimePoint> next_wake() const;

 private:
  class Sleeper;
  using Sleepers = std::multimap<TimePoint, Sleeper*>;

  TimePoint now_{};
  WallTime wall_now_;
  Sleepers sleepers_;
};

// Runs everything that is ready on `io` without waiting for anything; gives the number of handlers run.
std::size_t run_ready(asio::io_context& io);

}  // namespace outhaul::testing
