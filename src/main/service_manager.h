// What a service manager that speaks sd_notify wants to hear. Does nothing without one.
//   source  sd_notify(3), "Notes": the protocol is stable
#pragma once

#include <string_view>

namespace outhaul {

// `state` such as "READY=1", "STOPPING=1" or "WATCHDOG=1".
void notify_service_manager(std::string_view state);

}  // namespace outhaul
