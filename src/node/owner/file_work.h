// FileWork: where whole files are read, so that a large one holds up nobody else on the strand.
//   adapters  main/file_thread.h; without one it is done on the spot, as in tests
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/task.h"

namespace outhaul::node {

class FileWork {
 public:
  virtual ~FileWork() = default;
  // Completes on the caller's strand after `job` has run. A caller that is cancelled leaves it to its end, so
  // it must own what it touches.
  virtual Task<void> run(std::function<void()> job) = 0;
};

// The value of `job`; `where` may be null.
template <class T>
Task<T> run_job(FileWork* where, std::function<T()> job) {
  if (where == nullptr) co_return job();
  const auto value = std::make_shared<std::optional<T>>();
  std::function<void()> body = [value, job = std::move(job)] { value->emplace(job()); };
  co_await where->run(std::move(body));
  co_return std::move(**value);
}

}  // namespace outhaul::node
