#include "hub/streams/stdin_inlet.h"

#include "base/within.h"

namespace outhaul::hub {

Result<void> StdinInlet::create(const StreamId& id, Random& random) {
  return streams_.create(id, stream::Incarnation::make(random));
}

Result<void> StdinInlet::end_unfed(const StreamId& id, Random& random) {
  if (!has(id)) OUTHAUL_CHECK(create(id, random));
  if (streams_.find(id)->complete) return {};
  OUTHAUL_CHECK(streams_.append(id, stream::RecordKind::end, clock_.wall_now(), {}));
  return {};
}

Task<Result<stream::StreamPosition>> StdinInlet::append(LiveTaskPtr task, Piece piece) {
  const auto id = task->row.stdin_stream;
  if (id.is_empty()) co_return fail(ErrorCode::not_found, "the task takes no input");
  OUTHAUL_CO_CHECK(co_await append_new_part(id, piece));
  const auto totals = streams_.find(id);
  if (piece.is_last && totals && !totals->complete) {
    OUTHAUL_CO_CHECK(streams_.append(id, stream::RecordKind::end, clock_.wall_now(), {}));
  }
  co_return co_await streams_.durable(id);
}

// Looks anew after each wait: another request may have brought the same bytes meanwhile.
Task<Result<void>> StdinInlet::append_new_part(StreamId id, const Piece& piece) {
  const auto deadline = clock_.now() + room_wait;
  while (true) {
    const auto totals = streams_.find(id);
    if (!totals) co_return fail(ErrorCode::not_found, "the task has ended");
    OUTHAUL_CO_TRY(rest, new_part(*totals, piece));
    if (rest.empty()) co_return Result<void>();
    const auto part = rest.substr(0, stream::max_record_payload_bytes);
    if (totals->end - totals->released + part.size() <= max_held_bytes) {
      OUTHAUL_CO_CHECK(streams_.append(id, stream::RecordKind::standard_output, clock_.wall_now(), part));
    } else if (!co_await within(clock_, deadline, streams_.room().wait_pulse())) {
      co_return fail(ErrorCode::exhausted, "the node has not taken the input that is held already");
    }
  }
}

Result<ByteView> StdinInlet::new_part(const stream::StreamTotals& totals, const Piece& piece) const {
  const auto known = totals.end;
  const auto refuse = [known](const char* why) {
    return fail(Error(ErrorCode::conflict, why).with("offset", std::to_string(known)));
  };
  if (piece.offset > known) return refuse("bytes before this piece of the input are missing");
  if (piece.offset + piece.bytes.size() <= known) return ByteView();
  if (totals.complete) return refuse("the input has ended before this piece");
  return ByteView(piece.bytes).substr(known - piece.offset);
}

}  // namespace outhaul::hub
