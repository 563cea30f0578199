// Programs that a node left to its launcher, when no node runs that could end them.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace outhaul {

// SIGKILL to all of them; comes back when they are gone. The launcher keeps how they ended for the next node.
//   errors  data_locked: a node runs and does not answer its owner. Those of ProcessLauncher::attach.
//           deadline_exceeded: some are in an uninterruptible wait
Result<void> end_stranded_tasks(const std::filesystem::path& data_directory);

}  // namespace outhaul
