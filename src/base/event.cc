#include "base/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace outhaul {
namespace {

// The timer never expires: cancel() on it is the signal. Whoever was cancelled itself must unwind.
Task<void> wait_signal(asio::steady_timer& timer) {
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

}  // namespace

Event::Event(const Executor& executor) : timer_(executor, asio::steady_timer::time_point::max()) {}

void Event::set() {
  is_set_ = true;
  timer_.cancel();
}

Task<void> Event::wait() {
  while (!is_set_) co_await wait_signal(timer_);
}

void Event::pulse() { timer_.cancel(); }

Task<void> Event::wait_pulse() { co_await wait_signal(timer_); }

}  // namespace outhaul
