// AckBatch: tells one node what the hub durably holds of its streams, many streams in one message.
//   runs on  the hub's strand, as a child of the session
#pragma once

#include <map>
#include <set>

#include "base/async_clock.h"
#include "base/event.h"
#include "hub/nodes/node_link.h"
#include "stream/stream_store.h"

namespace outhaul::hub {

v1::StreamPosition wire_position(const StreamId& id, const stream::Incarnation& incarnation,
                                 stream::StreamPosition position);

class AckBatch {
 public:
  // A stream that grows is acknowledged at least so often, and when so much came since.
  static constexpr Duration interval = std::chrono::milliseconds(500);
  // Streams that are complete are only waiting to be forgotten: those of one moment share a message.
  static constexpr Duration gathering = std::chrono::milliseconds(5);
  static constexpr std::uint64_t urgent_bytes = 4U << 20U;

  AckBatch(const Executor& executor, AsyncClock& clock, stream::StreamStore& streams)
      : clock_(clock), streams_(streams), dirty_(executor), urgent_(executor) {}

  // `bytes` more of the stream were appended; not yet durable.
  void note_growth(const StreamId& id, std::size_t bytes);
  // The stream is durable to its end and the hub will know of it after a crash: the node may forget it.
  void note_complete(v1::StreamPosition position);
  // Until cancelled or the session is lost.
  Task<void> run(NodeLink& link);

 private:
  Task<void> add_growing(v1::StreamAcks& acks);

  AsyncClock& clock_;
  stream::StreamStore& streams_;
  Event dirty_;
  Event urgent_;
  std::uint64_t grown_bytes_ = 0;
  std::set<StreamId> growing_;
  std::map<std::string, v1::StreamPosition> complete_;
};

}  // namespace outhaul::hub
