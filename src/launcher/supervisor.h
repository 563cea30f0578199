// A supervisor: the launcher's means of keeping a tree together where no cgroup can be had. It is a fork of
// the launcher that starts one program, is the subreaper of everything below it, and ends when the last
// of that has ended. What it learns it writes into memory that both share.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstdint>

#include "launcher/spawn.h"

namespace outhaul::launcher {

// How a program ended, as wait4() and the clocks said.
struct ExitFacts {
  std::int32_t wait_status = 0;
  std::int64_t ended_at_ns = 0;
  std::int64_t ended_ns = 0;  // monotonic
  std::int64_t user_cpu_ns = 0;
  std::int64_t system_cpu_ns = 0;
  std::int64_t max_rss_bytes = 0;
};
ExitFacts make_exit_facts(int wait_status, const rusage& usage);

enum class SupervisorPhase : std::uint32_t { forked, started, exited };

struct alignas(128) SupervisorReport {
  std::atomic<SupervisorPhase> phase;
  SpawnOutcome outcome;  // from `started` on
  std::int64_t started_at_ns;
  std::int64_t started_ns;
  ExitFacts exit;  // from `exited` on
};

// Forks. Each change of phase adds 1 to the eventfd `notice`. Gives the supervisor's process id, or -1.
pid_t start_supervisor(const SpawnPlan& plan, SupervisorReport& report, int notice);

}  // namespace outhaul::launcher
