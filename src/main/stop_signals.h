// StopSignals: SIGTERM and SIGINT as something to wait for.
#pragma once

#include <boost/asio/signal_set.hpp>

#include "base/task.h"

namespace outhaul {

class StopSignals {
 public:
  explicit StopSignals(const Executor& executor);
  // Completes with the next of the two. Cancellation throws operation_aborted.
  Task<int> wait();

 private:
  asio::signal_set signals_;
};

}  // namespace outhaul
