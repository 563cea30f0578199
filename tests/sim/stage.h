// Stage: what everything in one simulation shares.
#pragma once

#include "testing/sim_network.h"
#include "testing/sim_world.h"
#include "tests/sim/audit_book.h"
#include "tests/sim/program_book.h"
#include "tests/sim/sim_deployment.h"
#include "tests/sim/sim_renewal.h"
#include "tests/sim/sim_trace.h"
#include "tests/sim/verdict.h"

namespace outhaul::sim {

struct Stage {
  testing::SimWorld& world;
  testing::SimNetwork& network;
  SimTrace& trace;
  Verdict& verdict;
  const SimDeployment& deployment;
  ProgramBook& programs;
  RenewalDesk& desk;
  AuditBook& audit;
};

// How a process ends without wanting to. Killed: what it wrote to its kernel stays. Without power: what was
// not synced may be lost or torn, and everything else on the machine dies too.
using Death = testing::SimNetwork::Death;

}  // namespace outhaul::sim
