// OwnerLock: the port through which a node learns that its owner has locked it. What it reads is written by
// `outhaul-node lock`, also while no node runs, and only there.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"

namespace outhaul::node {

struct LockNotice {
  std::string reason;  // the owner's own words; may be empty
  WallTime since;
  bool operator==(const LockNotice&) const = default;
};

class OwnerLock {
 public:
  virtual ~OwnerLock() = default;
  // As it is now; empty: not locked. A failure means: cannot be read. The caller then takes the node for
  // locked.
  virtual Result<std::optional<LockNotice>> load() const = 0;
};

}  // namespace outhaul::node
