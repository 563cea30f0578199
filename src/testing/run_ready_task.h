// run_ready_task: drives one coroutine of a test as far as it gets without waiting for anything.
#pragma once

#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/task_group.h"
#include "testing/manual_clock.h"

namespace outhaul::testing {

// Runs whatever is ready until `task` has ended. Empty when it still waits and nothing else can run: it is
// cancelled then.
template <class T>
std::optional<T> run_ready_task(asio::io_context& io, Task<T> task) {
  std::optional<T> result;
  TaskGroup group(io.get_executor());
  group.spawn([&]() -> Task<void> { result.emplace(co_await std::move(task)); });
  while (!group.is_idle() && run_ready(io) > 0) {
  }
  group.cancel();
  run_ready(io);
  return result;
}

// True when the task ended.
inline bool run_ready_task(asio::io_context& io, Task<void> task) {
  bool has_ended = false;
  TaskGroup group(io.get_executor());
  group.spawn([&]() -> Task<void> {
    co_await std::move(task);
    has_ended = true;
  });
  while (!group.is_idle() && run_ready(io) > 0) {
  }
  group.cancel();
  run_ready(io);
  return has_ended;
}

}  // namespace outhaul::testing
