#include "node/link/stdin_feeder.h"

namespace outhaul::node {
namespace {

using stream::ReaderCursor;

// Where the program stands; empty: it takes no more.
std::optional<std::uint64_t> applied_by(TaskRunner& runner, const StreamId& stream) {
  TaskRun* run = runner.find_by_stdin(stream);
  sandbox::Process* process = run != nullptr ? run->process() : nullptr;
  if (process == nullptr || process->status().stdin_closed || process->status().is_final())
    return std::nullopt;
  return process->status().stdin_applied;
}

}  // namespace

struct StdinFeeder::Feed {
  StreamId stream;
  Bytes incarnation;
  ReaderCursor cursor;
  stream::RecordDecoder decoder;
};

Task<void> StdinFeeder::feed(transport::IncomingChannel incoming) {
  const auto stream = StreamId::assume(incoming.target().target().name());
  const auto& open = incoming.open().stream();
  const auto incarnation = stream::Incarnation::parse(open.incarnation());
  co_await await_program(stream);
  TaskRun* run = runner_.find_by_stdin(stream);
  if (run == nullptr || run->process() == nullptr || !incarnation) {
    incoming.refuse(Error(ErrorCode::stream_unknown, "no task reads this stream"));
    co_return;
  }
  const ReaderCursor::Peer peer{*incarnation, open.from(), open.dropped_before()};
  const ReaderCursor::Held held{*incarnation, {run->process()->status().stdin_applied, false}};
  auto opened = ReaderCursor::open(peer, held);
  if (!opened || opened->second.gap_bytes != 0) {
    incoming.refuse(Error(ErrorCode::stream_gap, "standard input has a gap"));
    co_return;
  }
  Feed feed{stream, open.incarnation(), opened->first, {}};
  v1::Accept accept;
  accept.mutable_position()->set_stream_id(stream.text());
  accept.mutable_position()->set_incarnation(feed.incarnation);
  accept.mutable_position()->set_offset(opened->second.position.offset);
  auto channel = incoming.accept(std::move(accept));
  for (;;) {
    const auto bytes = co_await channel.receive();
    if (!bytes) co_return;
    if (!*bytes) co_return channel.finish();
    feed.decoder.feed(**bytes);
    const auto taken = co_await take_records(feed);
    if (!taken) {
      log_.failure("standard input is broken", taken.error());
      channel.reset(taken.error().code());
      co_return;
    }
    acknowledge(feed);
  }
}

// Input may come before the person at the node has let the program start.
Task<void> StdinFeeder::await_program(const StreamId& stream) {
  for (;;) {
    TaskRun* run = runner_.find_by_stdin(stream);
    if (run == nullptr || !run->is_asking()) co_return;
    co_await run->progress().wait_pulse();
  }
}

Task<Result<void>> StdinFeeder::take_records(Feed& feed) {
  for (;;) {
    OUTHAUL_CO_TRY(record, feed.decoder.next());
    if (!record) co_return Result<void>();
    const std::uint64_t known = feed.cursor.position().offset;
    OUTHAUL_CO_TRY(verdict, feed.cursor.offer(record->header(), record->span()));
    if (verdict == ReaderCursor::Verdict::ignore) continue;
    if (record->header().kind == stream::RecordKind::gap) {
      co_return fail(ErrorCode::stream_gap, "standard input has a gap");
    }
    const auto skipped = verdict == ReaderCursor::Verdict::append_tail ? known - record->header().offset : 0;
    co_await deliver(feed.stream, record->header().offset + skipped,
                     Bytes(record->payload().substr(skipped)));
    if (!feed.cursor.position().complete) continue;
    TaskRun* run = runner_.find_by_stdin(feed.stream);
    if (run != nullptr && run->process() != nullptr)
      run->process()->close_stdin(feed.cursor.position().offset);
  }
}

// Waits until the program's pipe has all of it. A program that takes no more is no failure: what it does
// not want is gone, as in a pipe.
Task<void> StdinFeeder::deliver(const StreamId& stream, std::uint64_t offset, Bytes payload) {
  const std::uint64_t end = offset + payload.size();
  for (;;) {
    const auto applied = applied_by(runner_, stream);
    if (!applied || *applied >= end) co_return;
    TaskRun* run = runner_.find_by_stdin(stream);
    const auto skipped = *applied > offset ? *applied - offset : 0;
    run->process()->offer_stdin(offset + skipped, ByteView(payload).substr(skipped));
    // Found anew afterwards: the run may be over by then.
    co_await run->progress().wait_pulse();
  }
}

void StdinFeeder::acknowledge(const Feed& feed) {
  v1::Control control;
  auto& position = *control.mutable_stream_acks()->add_positions();
  position.set_stream_id(feed.stream.text());
  position.set_incarnation(feed.incarnation);
  position.set_offset(feed.cursor.position().offset);
  position.set_complete(feed.cursor.position().complete);
  const auto sent = tunnel_.send_control(control);
  if (!sent) log_.failure("standard input is not acknowledged", sent.error());
}

}  // namespace outhaul::node
