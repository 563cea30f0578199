// Readiness: waits until a descriptor that others share can be read or written. Asio by itself would turn
// the descriptor non-blocking, and that mode belongs to everybody who holds it: the shell, a pager.
#pragma once

#include <memory>

#include "base/task.h"

namespace outhaul::cli {

class Readiness {
 public:
  enum class For { reading, writing };
  // `descriptor` stays the caller's and outlives this.
  Readiness(const Executor& executor, int descriptor, For purpose);
  ~Readiness();

  // Completes at once for what never blocks, such as a file. Also completes when the other end has gone.
  Task<void> wait();

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;  // null for what cannot be waited for
};

}  // namespace outhaul::cli
