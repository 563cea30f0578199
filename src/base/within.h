// within: a deadline for any wait on the outside world.
#pragma once

#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async_clock.h"
#include "base/task_group.h"

namespace outhaul {

// Cancels what is bound to slot(): at a deadline, and when the coroutine that made it is cancelled itself.
// Lives in that coroutine's frame. An ordinary end costs no exception, unlike the loser of an `a || b`.
class Deadline {
 public:
  Deadline(AsyncClock& clock, TimePoint when, const Executor& strand, asio::cancellation_slot outer)
      : outer_(outer), alarm_(clock.alarm_at(when, strand, [this] { pass(); })) {
    if (outer_.is_connected()) outer_.assign([this](asio::cancellation_type type) { stop_.emit(type); });
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    if (outer_.is_connected()) outer_.clear();
  }
  asio::cancellation_slot slot() { return stop_.slot(); }
  bool has_passed() const { return has_passed_; }

 private:
  void pass() {
    has_passed_ = true;
    stop_.emit(asio::cancellation_type::terminal);
  }

  asio::cancellation_signal stop_;
  asio::cancellation_slot outer_;
  bool has_passed_ = false;
  std::unique_ptr<AsyncClock::Alarm> alarm_;
};

// The task's value, or empty when `deadline` came first (the task was cancelled and has unwound).
template <class T>
Task<std::optional<T>> within(AsyncClock& clock, TimePoint deadline, Task<T> task) {
  const auto strand = co_await asio::this_coro::executor;
  const auto outer = co_await asio::this_coro::cancellation_state;
  Deadline limit(clock, deadline, strand, outer.slot());
  // A value has no default to be given beside a failure; an optional one has.
  const auto body = [](Task<T> inner) -> Task<std::optional<T>> { co_return co_await std::move(inner); };
  auto [failure, value] = co_await asio::co_spawn(
      strand, body(std::move(task)),
      asio::bind_cancellation_slot(limit.slot(), asio::as_tuple(asio::use_awaitable)));
  if (failure && !(limit.has_passed() && is_cancellation(failure))) std::rethrow_exception(failure);
  co_return std::move(value);
}

// True when the task ended in time.
inline Task<bool> within(AsyncClock& clock, TimePoint deadline, Task<void> task) {
  const auto strand = co_await asio::this_coro::executor;
  const auto outer = co_await asio::this_coro::cancellation_state;
  Deadline limit(clock, deadline, strand, outer.slot());
  auto [failure] = co_await asio::co_spawn(
      strand, std::move(task),
      asio::bind_cancellation_slot(limit.slot(), asio::as_tuple(asio::use_awaitable)));
  if (failure && !(limit.has_passed() && is_cancellation(failure))) std::rethrow_exception(failure);
  co_return !failure;
}

}  // namespace outhaul
