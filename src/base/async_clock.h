// AsyncClock: a Clock that can also wake a coroutine. The system's clock and the simulated one both
// implement it; nothing else in the product waits for time.
#pragma once

#include "base/clock.h"
#include "base/task.h"

namespace outhaul {

class AsyncClock : public Clock {
 public:
  // Completes at `when`, at once when that has passed. Cancellation throws operation_aborted.
  virtual Task<void> sleep_until(TimePoint when) = 0;
  Task<void> sleep_for(Duration span) { return sleep_until(now() + span); }
};

}  // namespace outhaul
