// run_on_loop: one coroutine, on a loop of its own, to its end. For commands that do one thing.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/assert.h"
#include "base/task_group.h"

namespace outhaul {

template <class T>
T run_on_loop(asio::io_context& io, Task<T> task) {
  std::optional<T> value;
  TaskGroup group(io.get_executor());
  group.spawn([&value, body = std::move(task)]() mutable -> Task<void> { value = co_await std::move(body); });
  io.run();
  OUTHAUL_ASSERT(value.has_value());
  return std::move(*value);
}

}  // namespace outhaul
