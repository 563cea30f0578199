// Dialling: from a host name to a connected descriptor.
#pragma once

#include <cstdint>
#include <string>

#include "base/async_clock.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::http {

// Tries each address of `host` in the resolver's order. The caller owns the descriptor it gets.
//   deadline  for the whole; deadline_exceeded when it passes
//   errors    unavailable: the name does not resolve or nobody answers; names host, port and reason
Task<Result<int>> dial(AsyncClock& clock, TimePoint deadline, std::string host, std::uint16_t port);

}  // namespace outhaul::http
