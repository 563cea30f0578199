// spawn_program: fork and exec without a copy of anything. The child borrows our memory and stands on a
// stack of its own until it executes the program; we stand still so long (as vfork does).
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "launcher/held_files.h"
#include "launcher/protocol.h"

namespace outhaul::launcher {

struct SpawnPlan {
  const char* directory;
  char* const* arguments;    // null-ended, at least one
  char* const* environment;  // null-ended
  int descriptors[3];        // become 0, 1 and 2; each above 2
  int cgroup;                // a directory to be born in; -1: ours
  int nice;
  const Limit* limits;
  std::uint32_t limit_count;
  rlimit open_files;       // what we had before we raised our own
  const HeldFiles* files;  // each above all that the program gets
  std::uint32_t flags;     // of the SpawnRequest
};

struct SpawnOutcome {
  pid_t process = -1;  // -1: nothing runs; `error` and `stage` say why
  int error = 0;
  SpawnStage stage = SpawnStage::none;
};

// The program runs in a process group of its own with no new privileges, no signal blocked or ignored, no
// descriptor but 0..2 and the files held for it, and dies with the thread that called this.
SpawnOutcome spawn_program(const SpawnPlan& plan);

}  // namespace outhaul::launcher
