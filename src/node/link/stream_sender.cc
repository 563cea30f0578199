#include "node/link/stream_sender.h"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>

#include "base/planted_fault.h"

namespace outhaul::node {
namespace {

// Four messages of the tunnel: enough to keep it busy, little enough to stay in the processor's cache.
constexpr std::size_t read_bytes = 256U << 10U;
constexpr auto first_retry = std::chrono::seconds(1);
constexpr auto longest_retry = std::chrono::seconds(30);

}  // namespace

struct StreamSender::Attempt {
  Attempt(transport::Channel opened, const Executor& executor)
      : channel(std::move(opened)), answered(executor) {}
  transport::Channel channel;
  Event answered;  // pulsed: the answer is in, the cursor may have moved
  std::optional<Error> refusal;
  bool is_over = false;      // nothing more is sent on it
  bool is_finished = false;  // everything was sent, and was wanted
};

StreamSender::StreamSender(const Ports& ports, StreamId stream, stream::StreamPosition acknowledged,
                           Opening opening)
    : ports_(ports), stream_(std::move(stream)), opening_(opening), cursor_(acknowledged) {}

std::optional<stream::WriterHoldings> StreamSender::holdings() const {
  const auto totals = ports_.streams.find(stream_);
  if (!totals) return std::nullopt;
  return stream::WriterHoldings{totals->start, totals->end, totals->complete, totals->completing_bytes};
}

v1::Open StreamSender::make_open(bool with_envelope) {
  const auto opening = cursor_.open(*holdings());
  const TaskEntry* entry = ports_.ledger.find_by_stream(stream_);
  v1::Open open;
  auto& fields = *open.mutable_stream();
  fields.set_from(opening.from);
  fields.set_dropped_before(opening.dropped_before);
  if (entry == nullptr) return open;
  fields.set_incarnation(entry->incarnation.bytes());
  fields.set_task_id(entry->spec.task_id.text());
  open.set_interactive(entry->spec.is_interactive);
  if (with_envelope) open.mutable_envelope()->set_bytes(entry->envelope);
  return open;
}

Task<void> StreamSender::replicate() {
  bool with_envelope = false;
  for (Duration pause = first_retry;;) {
    const Outcome outcome = co_await attempt(with_envelope);
    if (outcome == Outcome::done) co_return;
    cursor_ = stream::WriterCursor(cursor_.acknowledged());
    // A hub that lost its row adopts the task by its own signature, once it sees it.
    if (outcome == Outcome::unknown_to_hub && !std::exchange(with_envelope, true)) continue;
    co_await ports_.clock.sleep_for(pause);
    pause = std::min<Duration>(pause * 2, longest_retry);
  }
}

Task<StreamSender::Outcome> StreamSender::attempt(bool with_envelope) {
  const auto target = wire::ChannelTarget::parse("stream", "stream:" + stream_.text());
  adopt(cursor_.acknowledged());
  if (opening_ == Opening::with_first_bytes) {
    static_cast<void>(co_await ports_.streams.wait_for_more(stream_, cursor_.position().offset));
  }
  if (!holdings()) co_return Outcome::done;
  auto channel = ports_.tunnel.open(*target, make_open(with_envelope));
  if (!channel) {
    ports_.log.failure("a stream is not opened", channel.error());
    co_return Outcome::failed;
  }
  const auto attempt = std::make_shared<Attempt>(std::move(*channel), ports_.executor);
  ports_.group.spawn([self = shared_from_this(), attempt] { return self->await_answer(attempt); });
  co_await send_over(attempt);
  if (attempt->is_finished || !holdings()) co_return Outcome::done;
  if (!attempt->refusal) co_return Outcome::failed;
  if (attempt->refusal->code() == ErrorCode::stream_unknown) co_return Outcome::unknown_to_hub;
  ports_.log.failure("the hub refuses a stream", *attempt->refusal);
  co_return Outcome::failed;
}

Task<void> StreamSender::send_over(std::shared_ptr<Attempt> attempt) {
  while (!attempt->is_over && attempt->channel.is_live()) {
    if (co_await send_some(*attempt)) continue;
    if (attempt->is_over || !holdings()) break;
    if (cursor_.has_sent_everything()) {
      // The answer may still take the cursor back.
      co_await attempt->answered.wait();
      attempt->is_finished = !attempt->is_over && cursor_.has_sent_everything();
      if (attempt->is_finished || attempt->is_over) break;
    }
    co_await await_more(*attempt);
  }
  attempt->channel.finish();
}

Task<bool> StreamSender::send_some(Attempt& attempt) {
  const auto held = holdings();
  if (held && cursor_.is_past(*held)) {
    ports_.log.failure("a stream stops", Error(ErrorCode::conflict, "sent past its end"));
    attempt.is_over = true;
    co_return false;
  }
  const auto sending = held ? cursor_.next(*held, read_bytes) : std::nullopt;
  if (!sending) co_return false;
  auto chunk = ports_.streams.read(stream_, sending->from, sending->max_bytes);
  if (!chunk) {
    ports_.log.failure("a stream is not read", chunk.error());
    attempt.is_over = true;
    co_return false;
  }
  if (chunk->slices.empty()) co_return false;
  // Before the wait: meanwhile the hub's answer may move the cursor, and that must stand.
  cursor_.sent(chunk->next);
  const auto sent = co_await attempt.channel.send(std::move(chunk->slices));
  if (OUTHAUL_FAULT("drop_before_ack"))
    static_cast<void>(ports_.streams.drop(stream_, cursor_.position().offset));
  co_return sent.has_value();
}

Task<void> StreamSender::await_more(Attempt& attempt) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  if (attempt.answered.is_set()) {
    const auto found = co_await ports_.streams.wait_for_more(stream_, cursor_.position().offset);
    attempt.is_over = attempt.is_over || !found;
    co_return;
  }
  co_await (ports_.streams.wait_for_more(stream_, cursor_.position().offset) || attempt.answered.wait());
}

Task<void> StreamSender::await_answer(std::shared_ptr<Attempt> attempt) {
  const auto answer = co_await attempt->channel.accepted();
  if (answer) {
    take_answer(*attempt, *answer);
  } else {
    attempt->refusal = answer.error();
    attempt->is_over = true;
  }
  attempt->answered.set();
}

void StreamSender::take_answer(Attempt& attempt, const v1::Accept& accept) {
  const stream::StreamPosition reader{accept.position().offset(), accept.position().complete()};
  const auto held = holdings();
  if (!held) {
    // All of it was acknowledged and forgotten while the answer was on its way.
    attempt.is_over = attempt.is_finished = true;
    return;
  }
  const auto verdict = cursor_.accept(reader, *held);
  if (!verdict) {
    ports_.log.failure("the hub's position of a stream cannot be", verdict.error());
    attempt.is_over = true;
    attempt.channel.reset(verdict.error().code());
    return;
  }
  if (*verdict == stream::WriterCursor::Acceptance::finished) {
    attempt.is_over = attempt.is_finished = true;
    return ports_.on_held(stream_, reader);
  }
  if (*verdict == stream::WriterCursor::Acceptance::adopt) adopt(reader);
}

// The hub has bytes that this node sent and then lost with its power: its copy wins.
void StreamSender::adopt(stream::StreamPosition reader) {
  const auto held = holdings();
  if (!held || reader.offset <= held->output_end()) return;
  ports_.log.warn("the hub holds more of a stream than this node", {{"stream", stream_.text()}});
  const auto adopted = ports_.streams.adopt_position(stream_, {reader.offset, false});
  if (!adopted) ports_.log.failure("the hub's position is not adopted", adopted.error());
}

void StreamSender::acknowledge(stream::StreamPosition position) {
  const auto held = holdings();
  if (!held) return;
  const auto up_to = cursor_.acknowledge(position, *held);
  if (!up_to) return ports_.log.failure("an acknowledgement cannot be", up_to.error());
  ports_.on_held(stream_, {*up_to, position.complete});
}

}  // namespace outhaul::node
