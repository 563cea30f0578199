#include "hub/streams/stdin_pump.h"

namespace outhaul::hub {
namespace {

constexpr std::size_t send_bytes = 64U << 10U;

stream::StreamPosition position_of(const v1::Accept& accept) {
  return {accept.position().offset(), accept.position().complete()};
}

// A tunnel that went, or a program that takes no more: neither is a fault of anything.
bool is_ordinary_end(const Error& error) {
  return error.code() == ErrorCode::session_lost || error.code() == ErrorCode::cancelled;
}

}  // namespace

void StdinPump::start(const LiveTaskPtr& task, NodeLink& link) {
  if (task->row.stdin_stream.is_empty()) return;
  link.spawn([this, task, &link] { return run(task, link); });
}

Result<stream::WriterHoldings> StdinPump::holdings(const StreamId& id) const {
  const auto totals = streams_.find(id);
  if (!totals) return fail(ErrorCode::not_found, "the input stream is gone");
  return stream::WriterHoldings{totals->start, totals->end, totals->complete, totals->completing_bytes};
}

Task<void> StdinPump::run(LiveTaskPtr task, NodeLink& link) {
  const auto& id = task->row.stdin_stream;
  const auto totals = streams_.find(id);
  const auto target = wire::ChannelTarget::parse("stream", "stream:" + id.text());
  if (!totals || !target) co_return;
  // What was dropped is what the node has acknowledged.
  stream::WriterCursor cursor(stream::StreamPosition{totals->start, false});
  const auto opening = cursor.open({totals->start, totals->end, totals->complete, totals->completing_bytes});
  v1::Open open;
  open.set_interactive(task->spec.is_interactive);
  open.mutable_stream()->set_incarnation(totals->incarnation.bytes());
  open.mutable_stream()->set_from(opening.from);
  open.mutable_stream()->set_dropped_before(opening.dropped_before);
  open.mutable_stream()->set_task_id(task->row.id.text());
  auto channel = link.open(*target, std::move(open));
  if (!channel) co_return log_.failure("input stream not opened", channel.error());
  const auto sent = co_await send_all(id, cursor, *channel);
  if (sent || task->is_final() || is_ordinary_end(sent.error())) co_return;
  log_.failure("input stream stopped", sent.error());
}

// The first bytes are not sent before the node's answer: input is small, and a node that is back after a
// crash may stand elsewhere than it did.
Task<Result<void>> StdinPump::send_all(const StreamId& id, stream::WriterCursor cursor,
                                       transport::Channel& channel) {
  OUTHAUL_CO_TRY(accept, co_await channel.accepted());
  OUTHAUL_CO_TRY(held, holdings(id));
  const auto position = position_of(accept);
  OUTHAUL_CO_TRY(acceptance, cursor.accept(position, held));
  if (acceptance == stream::WriterCursor::Acceptance::adopt)
    OUTHAUL_CO_CHECK(streams_.adopt_position(id, position));
  // What it has may have been acknowledged to an earlier life of ours only, and a client may wait for the
  // room.
  OUTHAUL_CO_CHECK(streams_.drop(id, position.offset));
  while (!cursor.has_sent_everything()) {
    OUTHAUL_CO_TRY(now_held, holdings(id));
    if (cursor.is_past(now_held)) co_return fail(ErrorCode::conflict, "input: sent past its end");
    const auto sending = cursor.next(now_held, send_bytes);
    if (!sending) {
      OUTHAUL_CO_CHECK(co_await streams_.wait_for_more(id, cursor.position().offset));
      continue;
    }
    OUTHAUL_CO_TRY(chunk, streams_.read(id, sending->from, sending->max_bytes));
    if (chunk.slices.empty()) {
      // Only the end is left, and it is not durable yet.
      OUTHAUL_CO_CHECK(co_await streams_.wait_for_more(id, cursor.position().offset));
      continue;
    }
    for (const auto& slice : chunk.slices) OUTHAUL_CO_CHECK(co_await channel.send(Bytes(slice.view())));
    cursor.sent(chunk.next);
  }
  channel.finish();
  // The node ends its direction when it has everything; until then the channel must live.
  while (true) {
    OUTHAUL_CO_TRY(more, co_await channel.receive());
    if (!more) co_return Result<void>();
  }
}

}  // namespace outhaul::hub
