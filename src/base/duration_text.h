// Durations as people write them: "250ms", "30s", "1h30m". Whole numbers with the units d, h, m, s, ms.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.h"

namespace outhaul {

inline constexpr std::chrono::hours max_duration_text{24 * 3650};

// One or more pairs of number and unit, largest unit first, each unit once; at most max_duration_text.
// Fails with `invalid`; the message never repeats `text`.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The shortest text that parse_duration gives back, cut to whole milliseconds. "0s" for nothing.
std::string duration_text(std::chrono::nanoseconds span);

}  // namespace outhaul
