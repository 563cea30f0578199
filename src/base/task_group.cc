#include "base/task_group.h"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "base/assert.h"

namespace outhaul {

TaskGroup::TaskGroup(Executor executor)
    : executor_(std::move(executor)), idle_(executor_, asio::steady_timer::time_point::max()) {}

TaskGroup::~TaskGroup() { OUTHAUL_ASSERT(children_.empty()); }

void TaskGroup::cancel() {
  // The next one is found first: a child may end, and leave the list, while it is being asked.
  for (auto child = children_.begin(); child != children_.end();) {
    (child++)->emit(asio::cancellation_type::terminal);
  }
}

// A caller that is cancelled meanwhile waits all the same and hears of it at its next wait. Its cancellation
// state is not reset: that state belongs to the whole stack of coroutines above, which would never be
// cancellable again.
Task<void> TaskGroup::join() {
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!children_.empty()) co_await idle_.async_wait(asio::as_tuple(asio::use_awaitable));
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (first_failure_) std::rethrow_exception(std::exchange(first_failure_, nullptr));
}

void TaskGroup::end(Children::iterator child, std::exception_ptr failure) {
  children_.erase(child);
  if (failure && !first_failure_ && !is_cancellation(failure)) {
    first_failure_ = std::move(failure);
    cancel();
  }
  if (children_.empty()) idle_.cancel();
}

void TaskGroup::forget(Children::iterator child) { children_.erase(child); }

bool is_cancellation(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (const asio::multiple_exceptions& failures) {
    // How a cancelled `a || b` unwinds.
    return is_cancellation(failures.first_exception());
  } catch (...) {
    return false;
  }
}

}  // namespace outhaul
