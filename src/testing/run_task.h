// run_task: runs one coroutine to its end on a test's io_context, without waiting for anything that is
// not ready; for tests whose adapters complete at once or on real worker threads.
#pragma once

#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/assert.h"
#include "base/task_group.h"

namespace outhaul::testing {

// Runs `task` and whatever it needs, also work of threads that the context tracks. It must end.
template <class T>
T run_task(asio::io_context& io, Task<T> task) {
  std::optional<T> result;
  TaskGroup group(io.get_executor());
  group.spawn([&]() -> Task<void> { result.emplace(co_await std::move(task)); });
  io.restart();
  while (!group.is_idle() && io.run_one() > 0) {
  }
  OUTHAUL_ASSERT(result.has_value());
  return std::move(*result);
}

}  // namespace outhaul::testing
