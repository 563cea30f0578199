#include "hub/streams/ack_batch.h"

#include "base/planted_fault.h"
#include "base/within.h"

namespace outhaul::hub {

v1::StreamPosition wire_position(const StreamId& id, const stream::Incarnation& incarnation,
                                 stream::StreamPosition position) {
  v1::StreamPosition wire;
  wire.set_stream_id(id.text());
  wire.set_incarnation(incarnation.bytes());
  wire.set_offset(position.offset);
  wire.set_complete(position.complete);
  return wire;
}

void AckBatch::note_growth(const StreamId& id, std::size_t bytes) {
  growing_.insert(id);
  grown_bytes_ += bytes;
  dirty_.set();
  if (grown_bytes_ >= urgent_bytes) urgent_.set();
}

void AckBatch::note_complete(v1::StreamPosition position) {
  const auto id = position.stream_id();
  complete_.insert_or_assign(id, std::move(position));
  dirty_.set();
  urgent_.set();
}

Task<void> AckBatch::run(NodeLink& link) {
  while (true) {
    co_await dirty_.wait();
    if (complete_.empty()) {
      co_await within(clock_, clock_.now() + interval, urgent_.wait());
    } else {
      co_await clock_.sleep_for(gathering);
    }
    dirty_.reset();
    urgent_.reset();
    v1::Control control;
    auto& acks = *control.mutable_stream_acks();
    for (auto& [id, position] : std::exchange(complete_, {})) *acks.add_positions() = std::move(position);
    // Complete ones do not wait for a sync of the others.
    if (acks.positions_size() == 0) co_await add_growing(acks);
    if (acks.positions_size() > 0 && !link.send_control(control)) co_return;
    if (!growing_.empty()) dirty_.set();
  }
}

Task<void> AckBatch::add_growing(v1::StreamAcks& acks) {
  const auto streams = std::exchange(growing_, {});
  grown_bytes_ = 0;
  for (const auto& id : streams) {
    auto position = Result<stream::StreamPosition>();
    if (!OUTHAUL_FAULT("hub_ack_before_fsync")) position = co_await streams_.durable(id);
    const auto totals = streams_.find(id);
    if (OUTHAUL_FAULT("hub_ack_before_fsync") && totals)
      position = stream::StreamPosition{totals->end, totals->complete};
    // Gone: it was complete, and is acknowledged as such.
    if (!position || !totals || position->complete) continue;
    *acks.add_positions() = wire_position(id, totals->incarnation, *position);
  }
}

}  // namespace outhaul::hub
