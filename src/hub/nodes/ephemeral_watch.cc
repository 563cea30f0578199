#include "hub/nodes/ephemeral_watch.h"

#include <algorithm>

#include "base/duration_text.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

constexpr Duration look_every = 30s;
// A removal comes late by no more than this part of the limit.
constexpr int looks_per_limit = 4;

}  // namespace

Task<void> EphemeralWatch::run() {
  const Duration pause =
      std::min<Duration>(needs_.settings.ephemeral_lost_after / looks_per_limit, look_every);
  for (;;) {
    for (const auto& node : find_overdue()) co_await remove(node);
    co_await clock_.sleep_for(pause);
  }
}

std::vector<NodeId> EphemeralWatch::find_overdue() {
  const auto now = clock_.now();
  std::vector<NodeId> overdue;
  std::map<NodeId, Absence> away;
  for (const auto& [id, record] : needs_.registry.records()) {
    if (!record.row.is_ephemeral || record.attachment) continue;
    const auto known = away_.find(id);
    const bool is_known = known != away_.end() && known->second.last_seen_at == record.last_seen_at;
    const Absence absence = is_known ? known->second : Absence{now, record.last_seen_at};
    away.emplace(id, absence);
    if (now - absence.since >= needs_.settings.ephemeral_lost_after) overdue.push_back(id);
  }
  away_ = std::move(away);
  return overdue;
}

Task<void> EphemeralWatch::remove(NodeId node) {
  const auto limit = duration_text(needs_.settings.ephemeral_lost_after);
  const auto removed = co_await needs_.nodes.remove(
      node.text(), "its node was ephemeral and stayed away for longer than `ephemeral_lost_after`");
  if (!removed) co_return log_.failure("an ephemeral node that is away is not removed", removed.error());
  log_.info("an ephemeral node stayed away", {{"node", node.text()}, {"ephemeral_lost_after", limit}});
  needs_.audit.note(audit::AuditEntry(audit::AuditAction::node_removed, "hub", node.text())
                        .with("reason", "ephemeral, and away for longer than ephemeral_lost_after")
                        .with("ephemeral_lost_after", limit));
}

}  // namespace outhaul::hub
