#include "base/async_clock.h"

#include <boost/asio/this_coro.hpp>

#include "base/event.h"

namespace outhaul {

Task<void> AsyncClock::sleep_until(TimePoint when) {
  if (when <= now()) co_return;
  const auto strand = co_await asio::this_coro::executor;
  Event is_over(strand);
  const auto alarm = alarm_at(when, strand, [&is_over] { is_over.set(); });
  co_await is_over.wait();
}

}  // namespace outhaul
