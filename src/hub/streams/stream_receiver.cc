#include "hub/streams/stream_receiver.h"

#include <algorithm>

#include "base/within.h"

namespace outhaul::hub {
namespace {

// A full disk is freed by others, who do not tell us.
constexpr Duration room_interval = std::chrono::seconds(1);

// What one write takes, and what the journal of a small stream can hold up at most.
constexpr std::size_t max_run_bytes = 256U << 10U;

bool lacks_room(const Error& error) {
  return error.code() == ErrorCode::exhausted || error.code() == ErrorCode::disk_full;
}

// Leaving earlier would reset the channel under the answer.
Task<void> wait_for_finish(transport::Channel& channel) {
  channel.finish();
  while (true) {
    const auto more = co_await channel.receive();
    if (!more || !*more) co_return;
  }
}

}  // namespace

// One stream on its way in.
struct StreamReceiver::Inlet {
  LiveTaskPtr task;
  stream::Incarnation incarnation;
  stream::ReaderCursor cursor;
};

Task<void> StreamReceiver::receive(transport::IncomingChannel incoming, NodeLink& link) {
  auto id = StreamId::parse(incoming.target().target().name());
  if (!id) co_return incoming.refuse(id.error());
  auto owner = co_await needs_.adoption.find_owner(*id, link.node(), incoming.open().envelope().bytes());
  if (!owner) co_return incoming.refuse(owner.error());
  const auto& open = incoming.open().stream();
  v1::Accept accept;
  auto* task = std::get_if<LiveTaskPtr>(&*owner);
  if (task == nullptr) {
    // Whatever the node still has of it, it may forget; a program that still runs is wanted by nobody.
    v1::Control control;
    control.mutable_cancel_task()->set_task_id(open.task_id());
    static_cast<void>(link.send_control(control));
    const auto incarnation = stream::Incarnation::parse(open.incarnation()).value_or(stream::Incarnation());
    *accept.mutable_position() = wire_position(*id, incarnation, {open.from(), true});
    auto channel = incoming.accept(std::move(accept));
    co_return co_await wait_for_finish(channel);
  }
  needs_.courier.note_accepted(*task, link);
  if (std::exchange((*task)->is_resume_due, false)) needs_.courier.resume(*task, link);
  auto inlet = open_inlet(*task, open);
  if (!inlet) co_return incoming.refuse(inlet.error());
  if (inlet->cursor.position().complete) co_await complete(*inlet);
  *accept.mutable_position() = wire_position(*id, inlet->incarnation, inlet->cursor.position());
  auto channel = incoming.accept(std::move(accept));
  const auto taken = co_await receive_records(*inlet, channel);
  if (taken) co_return channel.finish();
  if (taken.error().code() == ErrorCode::session_lost) co_return;
  needs_.log.failure("stream of a node stopped", taken.error());
  channel.reset(taken.error().code());
}

Result<StreamReceiver::Inlet> StreamReceiver::open_inlet(const LiveTaskPtr& task,
                                                         const v1::StreamOpen& open) {
  const auto& id = task->row.stream;
  OUTHAUL_TRY(incarnation, stream::Incarnation::parse(open.incarnation()));
  if (!needs_.streams.find(id)) {
    OUTHAUL_CHECK(needs_.streams.create(id, incarnation));
  }
  const auto totals = needs_.streams.find(id);
  const stream::ReaderCursor::Peer peer{incarnation, open.from(), open.dropped_before()};
  const stream::ReaderCursor::Held held{totals->incarnation, {totals->end, totals->complete}};
  OUTHAUL_TRY(opened, stream::ReaderCursor::open(peer, held));
  if (opened.second.gap_bytes > 0) {
    needs_.log.warn("stream goes on after a gap",
                    {{"stream", id.text()}, {"bytes", opened.second.gap_bytes}});
    OUTHAUL_CHECK(needs_.streams.append_gap(id, needs_.clock.wall_now(), opened.second.gap_bytes));
  }
  return Inlet{task, incarnation, opened.first};
}

Task<Result<void>> StreamReceiver::receive_records(Inlet& inlet, transport::Channel& channel) {
  stream::RecordDecoder decoder;
  while (true) {
    OUTHAUL_CO_TRY(received, co_await channel.receive());
    if (!received) co_return Result<void>();
    Bytes piece = std::move(*received);
    decoder.feed(piece);
    do {
      OUTHAUL_CO_TRY(run, gather_run(inlet, decoder, channel, piece));
      OUTHAUL_CO_CHECK(co_await take_run(inlet, run));
    } while (decoder.has_input());
  }
}

// The new records that are here already, up to the one that completes the stream: written and forwarded
// together, they cost less than one by one. `piece` is what the decoder was fed last.
Result<StreamReceiver::Run> StreamReceiver::gather_run(Inlet& inlet, stream::RecordDecoder& decoder,
                                                       transport::Channel& channel, Bytes& piece) {
  Run run{.records = {}, .bytes = piece.size(), .completes = false};
  while (!run.completes) {
    OUTHAUL_TRY(record, decoder.next());
    if (!record) {
      auto more = run.bytes < max_run_bytes ? channel.try_receive() : std::nullopt;
      if (!more) break;
      piece = std::move(*more);
      run.bytes += piece.size();
      decoder.feed(piece);
      continue;
    }
    const std::uint64_t from = inlet.cursor.position().offset;
    OUTHAUL_TRY(verdict, inlet.cursor.offer(record->header(), record->span()));
    if (verdict == stream::ReaderCursor::Verdict::ignore) continue;
    run.completes = stream::completes_stream(record->header().kind);
    run.records.push_back(record->tail_from(std::max(from, record->header().offset)));
  }
  return run;
}

Task<Result<void>> StreamReceiver::take_run(const Inlet& inlet, const Run& run) {
  if (run.completes) needs_.ender.audit_result(*inlet.task, run.records.back().payload());
  if (!run.records.empty()) OUTHAUL_CO_CHECK(co_await append(inlet, run.records));
  auto& state = inlet.task->row.state;
  if (!run.records.empty() && state == store::TaskState::accepted) {
    // Not written down: after a restart the stream says it again.
    state = store::TaskState::running;
    inlet.task->changed.pulse();
  }
  if (run.completes) {
    co_await complete(inlet);
  } else if (!inlet.cursor.position().complete) {
    inlet.task->output.pulse();
    acks_.note_growth(inlet.task->row.stream, run.bytes);
  }
  co_return Result<void>();
}

// Until there is room nothing is read from the channel, so the node stops sending, and in the end the process
// blocks.
Task<Result<void>> StreamReceiver::append(const Inlet& inlet,
                                          std::span<const stream::EncodedRecord> records) {
  for (bool is_first = true;; is_first = false) {
    const auto appended = needs_.streams.append_run(inlet.task->row.stream, records);
    if (appended) co_return Result<void>();
    if (!lacks_room(appended.error())) co_return fail(appended.error());
    if (is_first) needs_.log.failure("no room for a stream, waiting", appended.error());
    co_await within(needs_.clock, needs_.clock.now() + room_interval, needs_.streams.room().wait_pulse());
  }
}

Task<void> StreamReceiver::complete(const Inlet& inlet) {
  const auto task = inlet.task;
  needs_.ender.end_when_durable(task);
  while (!task->is_shown_final()) co_await task->changed.wait_pulse();
  // A task without a row lives only on its node: forgotten there, a crash here would lose it.
  co_await task->saved.wait();
  acks_.note_complete(wire_position(task->row.stream, inlet.incarnation, inlet.cursor.position()));
}

}  // namespace outhaul::hub
