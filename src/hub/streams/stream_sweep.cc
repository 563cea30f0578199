#include "hub/streams/stream_sweep.h"

namespace outhaul::hub {
namespace {

using Streams = std::vector<StreamId>;

Result<bool> is_left_over(store::ReadTransaction& tx, const StreamId& id) {
  OUTHAUL_TRY(place, tx.streams.find(id));
  if (place && place->place == store::StreamPlace::archived) return true;
  OUTHAUL_TRY(task, tx.tasks.find_by_stream(id));
  return task && task->stdin_stream == id && store::is_final(task->state);
}

Result<Streams> find_left_over(store::ReadTransaction& tx, const Streams& candidates) {
  Streams left_over;
  for (const auto& id : candidates) {
    OUTHAUL_TRY(is_done, is_left_over(tx, id));
    if (is_done) left_over.push_back(id);
  }
  return left_over;
}

}  // namespace

Task<Result<void>> sweep_streams(const HubPorts& ports, const TaskBoard& board,
                                 stream::StreamStore& streams) {
  Streams candidates;
  for (const auto& id : streams.ids()) {
    if (!board.find_by_stream(id)) candidates.push_back(id);
  }
  if (candidates.empty()) co_return Result<void>();
  auto work = [candidates = std::move(candidates)](store::ReadTransaction& tx) {
    return find_left_over(tx, candidates);
  };
  OUTHAUL_CO_TRY(left_over, co_await ports.database.read(std::move(work)));
  for (const auto& id : left_over) OUTHAUL_CO_CHECK(streams.forget(id));
  co_return Result<void>();
}

}  // namespace outhaul::hub
