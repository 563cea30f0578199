// What a service manager that speaks sd_notify wants to hear. Does nothing without one.
//   source  sd_notify(3), "Notes": the protocol is stable
#pragma once

#include <string_view>

#include "base/async_clock.h"

namespace outhaul {

// `state` such as "READY=1", "STOPPING=1" or "WATCHDOG=1".
void notify_service_manager(std::string_view state);
// Says that the loop turns, twice as often as the service manager asks for (WATCHDOG_USEC), until it is
// cancelled. Ends at once when it does not ask.
Task<void> feed_watchdog(AsyncClock& clock);

}  // namespace outhaul
