// StdinInlet: takes a task's standard input from a client, piece by piece and by offset, so that a piece
// which is sent twice counts once.
//   runs on  the hub's strand
#pragma once

#include "base/async_clock.h"
#include "hub/tasks/live_task.h"
#include "stream/stream_store.h"

namespace outhaul::hub {

class StdinInlet {
 public:
  // Not yet acknowledged by the node; beyond it a client waits.
  static constexpr std::uint64_t max_held_bytes = 16U << 20U;
  static constexpr Duration room_wait = std::chrono::seconds(20);

  struct Piece {
    std::uint64_t offset = 0;  // where the first byte belongs
    Bytes bytes;
    bool is_last = false;
  };

  StdinInlet(AsyncClock& clock, stream::StreamStore& streams) : clock_(clock), streams_(streams) {}

  // Makes the stream of a new task; durable with its first piece.
  Result<void> create(const StreamId& id, Random& random);
  // The input of a task that no client was told of: nobody will send any. Durable by durable().
  Result<void> end_unfed(const StreamId& id, Random& random);
  Task<Result<stream::StreamPosition>> durable(StreamId id) { return streams_.durable(std::move(id)); }
  bool has(const StreamId& id) const { return streams_.find(id).has_value(); }
  // Completes when the piece is durable; gives how far the input is held.
  //   errors  conflict: bytes before the piece are missing (detail `offset` says from where to send), or
  //   bytes after
  //           the end. exhausted: the node has not taken enough for room_wait. not_found: the task has no
  //           input, or has ended
  Task<Result<stream::StreamPosition>> append(LiveTaskPtr task, Piece piece);

 private:
  Task<Result<void>> append_new_part(StreamId id, const Piece& piece);
  Result<ByteView> new_part(const stream::StreamTotals& totals, const Piece& piece) const;

  AsyncClock& clock_;
  stream::StreamStore& streams_;
};

}  // namespace outhaul::hub
