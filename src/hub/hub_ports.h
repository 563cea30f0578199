// HubPorts: what the hub needs of the world. All outlive the hub.
#pragma once

#include "base/async_clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"

namespace outhaul::store {
class Database;
}
namespace outhaul::stream {
class Disk;
}

namespace outhaul::hub {

struct HubPorts {
  Executor executor;
  AsyncClock& clock;
  Random& random;
  store::Database& database;
  stream::Disk& disk;  // of the hub's stream journal and segments
  const Log& log;
};

}  // namespace outhaul::hub
