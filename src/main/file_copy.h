// Copies of files with what is needed to check them later. Blocking: for commands, not for a loop.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "hub/backup_manifest.h"

namespace outhaul {

// Copies the regular file `from`, as far as it goes when its end is reached, to the new file `to` (mode 0600,
// synced). Gives its size and sum; the name is the caller's.
//   errors  not_found: no `from`. disk_full, unavailable, conflict: `to` exists
Result<hub::BackupFile> copy_and_sum(const std::filesystem::path& from, const std::filesystem::path& to);
Result<hub::BackupFile> sum_of(const std::filesystem::path& file);
// The names in it are durable when this returns.
Result<void> sync_names_in(const std::filesystem::path& directory);
// A new directory for the owner alone; one that is there must be empty. conflict
Result<void> make_private_directory(const std::filesystem::path& path);

}  // namespace outhaul
