// MortalContext: the io_context of a simulated process. Its operations can be destroyed while what they refer
// to still stands, as a crash does; the context itself goes last, because timers and events belong to it.
#pragma once

#include <boost/asio/io_context.hpp>

#include "base/task.h"

namespace outhaul::testing {

class MortalContext : public asio::io_context {
 public:
  MortalContext() : asio::io_context(1) {}
  // Destroys every coroutine that waits and every handler that is queued. Nothing runs here afterwards.
  void destroy_operations() { shutdown(); }
};

}  // namespace outhaul::testing
