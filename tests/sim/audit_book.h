// AuditBook: the audit logs of hub and nodes against what was said of them: each is whole after every start
// and at the end, holds every head that ever left its owner, in a receipt or a heartbeat, and knows
// everything that was acknowledged. Heads never run backwards.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "audit/verifier.h"
#include "stream/memory_disk.h"
#include "tests/sim/verdict.h"
#include "tests/sim/wire_watch.h"

namespace outhaul::sim {

// What a log says happened: subjects by action.
using AuditedActions = std::map<std::string, std::set<std::string>>;

class AuditBook {
 public:
  explicit AuditBook(Verdict& verdict) : verdict_(verdict) {}

  // A signed head on its way out of its owner, over one connection of a path. What an older connection still
  // had queued is no step backwards.
  void note_head(const std::string& log, const Place& place, ByteView envelope);
  // The result of a task on its way out of its node.
  void note_result(ByteView payload);
  // The log's owner was restored from a backup: what it says from now on may be behind what it said.
  void note_restore(const std::string& log);
  // The log as it stands on this disk.
  void check(const std::string& log, const stream::MemoryDiskImage& image);
  AuditedActions actions_of(const stream::MemoryDiskImage& image);

 private:
  Verdict& verdict_;
  struct Reached {
    std::uint64_t sequence = 0;
    std::uint64_t connection = 0;
  };
  // By log and path: what the heads that were sent there have reached.
  std::map<std::pair<std::string, std::string>, Reached> reached_;
  std::map<std::string, std::vector<audit::Witnessed>> seen_;
};

}  // namespace outhaul::sim
