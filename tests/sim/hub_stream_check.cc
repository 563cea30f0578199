#include "tests/sim/hub_stream_check.h"

#include <fmt/format.h>

#include "hub/streams/output_reader.h"
#include "store/memory_tables.h"

namespace outhaul::sim {
namespace {

constexpr std::size_t read_bytes = 256U << 10U;

}  // namespace

void HubStreamCheck::follow(const TaskId& task, const StreamId& stream) {
  if (followed_.contains(stream)) return;
  followed_.emplace(stream, Followed{task, {"the hub", task, stage_.programs, stage_.verdict}, 0, false});
}

void HubStreamCheck::note_restore() {
  for (auto& [stream, followed] : followed_) {
    followed.is_settled = false;
    followed.output = OutputCheck("the restored hub", followed.task, stage_.programs, stage_.verdict);
  }
}

void HubStreamCheck::check(SimHub& hub) {
  if (hub.serving() == nullptr) return;
  const bool is_new_life = std::exchange(seen_life_, hub.serving_lives()) != hub.serving_lives();
  if (std::exchange(seen_activity_, hub.activity()) == hub.activity() && !is_new_life) return;
  for (auto& [stream, followed] : followed_) {
    if (!followed.is_settled) check_stream(hub, stream, followed);
  }
}

void HubStreamCheck::check_stream(SimHub& hub, const StreamId& stream, Followed& followed) {
  auto& streams = hub.serving()->stream_sources().streams;
  const auto totals = streams.find(stream);
  if (totals) {
    // All of what a new life holds is read again.
    if (std::exchange(followed.life, seen_life_) != seen_life_) followed.output.rewind(0);
    check_kept(hub, stream, followed.task, *totals);
    while (totals->end > followed.output.offset() ||
           (totals->durable.complete && !followed.output.result())) {
      const auto chunk = streams.read(stream, followed.output.offset(), read_bytes);
      if (!chunk) return stage_.verdict.fail("stream_is_readable", chunk.error().what());
      if (chunk->slices.empty()) break;
      for (const auto& slice : chunk->slices) followed.output.take(slice.view());
      if (stage_.verdict.violation()) return;
    }
  }
  check_settled(hub, stream, followed, totals.has_value());
}

void HubStreamCheck::check_kept(SimHub& hub, const StreamId& stream, const TaskId& task,
                                const stream::StreamTotals& totals) {
  const auto promised = promises_.held(stream);
  // Of a task that the hub itself has ended it wants no more, and says so in the same words.
  const auto* row = hub.tables().tasks.find(task);
  const bool is_end_kept =
      totals.complete || !promised.is_complete || (row != nullptr && store::is_final(row->state));
  if (totals.end >= promised.offset && is_end_kept) return;
  stage_.verdict.fail("acknowledged_bytes_are_kept",
                      fmt::format("{}: said {}{}, holds {}{}", stream.text(), promised.offset,
                                  promised.is_complete ? "." : "", totals.end, totals.complete ? "." : ""));
}

void HubStreamCheck::check_settled(SimHub& hub, const StreamId& stream, Followed& followed,
                                   bool is_in_store) {
  const auto* archive = hub.tables().streams.find(stream);
  if (archive == nullptr) {
    const auto promised = promises_.held(stream);
    if (is_in_store || promised.offset == 0) return;
    return stage_.verdict.fail("acknowledged_bytes_are_kept", stream.text() + " is gone");
  }
  followed.is_settled = true;
  if (archive->row.place != store::StreamPlace::archived) return;
  OutputCheck whole("the archive", followed.task, stage_.programs, stage_.verdict);
  whole.take(archive->records);
  if (!whole.result()) stage_.verdict.fail("archive_is_complete", stream.text());
}

}  // namespace outhaul::sim
