#include "hub/nodes/absence_watch.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "hub/restore.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

constexpr Duration look_every = 1min;
// Far longer than any node waits between two attempts to come back.
constexpr Duration least_wait = 10min;

}  // namespace

AbsenceWatch::AbsenceWatch(const HubPorts& ports, const Needs& needs)
    : clock_(ports.clock), log_(ports.log), needs_(needs), waiting_since_(clock_.now()) {}

Task<void> AbsenceWatch::run() {
  const Duration limit = needs_.settings.lost_after;
  for (;;) {
    co_await clock_.sleep_for(std::min(limit, look_every));
    for (const auto& [id, record] : needs_.registry.records()) {
      if (!has_given_up(record)) continue;
      needs_.dispatcher.note_given_up(id);
      if (needs_.board.live_on(id) == 0) continue;
      log_.warn("tasks of an absent node are lost",
                {{"node", id.text()}, {"tasks", needs_.board.live_on(id)}});
      Error evidence(ErrorCode::task_lost, "its node has stayed away for longer than `lost_after`");
      evidence = std::move(evidence).with("lost_after", duration_text(limit));
      needs_.dispatcher.lose_all(id, std::move(evidence).with("last_seen", time_text(record.last_seen_at)));
    }
  }
}

bool AbsenceWatch::has_given_up(const NodeRecord& record) const {
  const Duration limit = needs_.settings.lost_after;
  // A restored hub remembers less of its nodes than they were seen.
  const auto since = std::max(record.last_seen_at, restored_at(needs_.signer.epoch()));
  return !record.attachment && clock_.wall_now() - since >= limit &&
         clock_.now() - waiting_since_ >= std::min(limit, least_wait);
}

}  // namespace outhaul::hub
