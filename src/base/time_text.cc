#include "base/time_text.h"

#include <chrono>

#include <fmt/format.h>

namespace outhaul {

std::string time_text(WallTime time) {
  using namespace std::chrono;
  const auto since_epoch = floor<milliseconds>(nanoseconds(time.nanoseconds));
  const auto days_since_epoch = floor<days>(since_epoch);
  const year_month_day date{sys_days(days_since_epoch)};
  const hh_mm_ss clock{since_epoch - days_since_epoch};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace outhaul
