// AsyncClock: a Clock that can also call back. The system's clock and the simulated one both implement it;
// nothing else in the product waits for time.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/task.h"

namespace outhaul {

class AsyncClock : public Clock {
 public:
  // Rings once, unless it is destroyed before. It must not be destroyed by its own ring.
  class Alarm {
   public:
    Alarm() = default;
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    virtual ~Alarm() = default;
  };

  // Calls `ring` from a handler of `strand` at `when`, as soon as possible when that has passed, never from
  // within this call. On the strand, because what is cancelled from elsewhere may end before it hears of it.
  virtual std::unique_ptr<Alarm> alarm_at(TimePoint when, const Executor& strand,
                                          std::function<void()> ring) = 0;
  // Completes at `when`, at once when that has passed. Cancellation throws operation_aborted.
  Task<void> sleep_until(TimePoint when);
  Task<void> sleep_for(Duration span) { return sleep_until(now() + span); }
};

}  // namespace outhaul
