// Wall time as RFC 3339 in UTC, the form of every interface for people and programs.
#pragma once

#include <string>

#include "base/clock.h"

namespace outhaul {

// "2026-03-01T12:34:56.789Z": always milliseconds, cut and not rounded. For years 0 to 9999.
std::string time_text(WallTime time);

}  // namespace outhaul
