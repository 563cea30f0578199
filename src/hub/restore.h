// What makes the rows of a backup the rows of a hub that goes on: its epoch rises, and nothing in it is taken
// for the present that may have changed since.
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "store/transaction.h"

namespace outhaul::hub {

struct Restoration {
  std::uint64_t epoch = 0;             // of every fence from now on
  std::uint64_t tasks_in_doubt = 0;    // not ended in the backup: never sent again (docs/decisions/0111-*.md)
  std::uint64_t tokens_forgotten = 0;  // for enrolment, unused in the backup
};

// In one transaction, before a hub starts on the rows. The epoch is the time in seconds, so that it is also
// above that of an earlier restore of the same backup.
Result<Restoration> mark_restored(store::Transaction& tx, WallTime now);

// When a hub of this epoch was restored; long ago when it never was.
WallTime restored_at(std::uint64_t epoch);

}  // namespace outhaul::hub
