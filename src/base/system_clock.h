// SystemClock: the machine's clocks and Asio's timers.
#pragma once

#include "base/async_clock.h"

namespace outhaul {

class SystemClock final : public AsyncClock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  WallTime wall_now() const override;
  std::unique_ptr<Alarm> alarm_at(TimePoint when, const Executor& strand,
                                  std::function<void()> ring) override;
};

}  // namespace outhaul
