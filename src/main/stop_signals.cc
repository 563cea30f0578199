#include "main/stop_signals.h"

#include <csignal>

#include <boost/asio/use_awaitable.hpp>

namespace outhaul {

StopSignals::StopSignals(const Executor& executor) : signals_(executor, SIGTERM, SIGINT) {}

Task<int> StopSignals::wait() { return signals_.async_wait(asio::use_awaitable); }

}  // namespace outhaul
