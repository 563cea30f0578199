// within: a deadline for any wait on the outside world.
#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <optional>
#include <utility>

#include "base/async_clock.h"

namespace outhaul {

// The task's value, or empty when `deadline` came first (the task was cancelled and has unwound).
template <class T>
Task<std::optional<T>> within(AsyncClock& clock, TimePoint deadline, Task<T> task) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  auto first = co_await (std::move(task) || clock.sleep_until(deadline));
  if (first.index() == 0) co_return std::optional<T>(std::move(std::get<0>(first)));
  co_return std::nullopt;
}

// True when the task ended in time.
inline Task<bool> within(AsyncClock& clock, TimePoint deadline, Task<void> task) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT
  auto first = co_await (std::move(task) || clock.sleep_until(deadline));
  co_return first.index() == 0;
}

}  // namespace outhaul
