#include "hub/restore.h"

#include <algorithm>

#include "base/planted_fault.h"

namespace outhaul::hub {
namespace {

constexpr std::int64_t nanoseconds_a_second = 1'000'000'000;

}  // namespace

Result<Restoration> mark_restored(store::Transaction& tx, WallTime now) {
  Restoration done;
  const auto seconds = std::max<std::int64_t>(now.nanoseconds / nanoseconds_a_second, 0);
  if (!OUTHAUL_FAULT("epoch_not_raised")) {
    OUTHAUL_TRY(epoch, tx.deployment.raise_hub_epoch(static_cast<std::uint64_t>(seconds)));
    done.epoch = epoch;
  }
  OUTHAUL_TRY(doubted, tx.tasks.doubt_unfinished());
  done.tasks_in_doubt = doubted;
  OUTHAUL_TRY(forgotten, tx.enrolment_tokens.revoke_unused());
  done.tokens_forgotten = forgotten;
  return done;
}

WallTime restored_at(std::uint64_t epoch) {
  return {static_cast<std::int64_t>(epoch) * nanoseconds_a_second};
}

}  // namespace outhaul::hub
