#include "testing/manual_clock.h"

#include <boost/asio/this_coro.hpp>

namespace outhaul::testing {

// One sleeping coroutine; lives in its frame and leaves the list with it, however the frame ends.
struct ManualClock::Sleeper {
  Sleeper(Sleepers& list, TimePoint when, const Executor& executor)
      : awake(executor), sleepers(list), place(list.emplace(when, this)) {}
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    if (place) sleepers.erase(*place);
  }
  void wake() {
    sleepers.erase(*place);
    place.reset();
    awake.set();
  }

  Event awake;
  Sleepers& sleepers;
  std::optional<Sleepers::iterator> place;  // empty once woken
};

Task<void> ManualClock::sleep_until(TimePoint when) {
  if (when <= now_) co_return;
  Sleeper sleeper(sleepers_, when, co_await asio::this_coro::executor);
  co_await sleeper.awake.wait();
}

void ManualClock::advance(Duration span) {
  now_ += span;
  wall_now_ = wall_now_ + span;
  while (!sleepers_.empty() && sleepers_.begin()->first <= now_) sleepers_.begin()->second->wake();
}

std::optional<TimePoint> ManualClock::next_wake() const {
  if (sleepers_.empty()) return std::nullopt;
  return sleepers_.begin()->first;
}

std::size_t run_ready(asio::io_context& io) {
  std::size_t count = 0;
  io.restart();
  while (const auto ran = io.poll()) count += ran;
  return count;
}

}  // namespace outhaul::testing
