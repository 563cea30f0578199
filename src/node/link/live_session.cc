#include "node/link/live_session.h"

namespace outhaul::node {
namespace {

// Most tasks are over sooner, and their result says it all. One message tells of all that started meanwhile.
constexpr Duration announce_after = std::chrono::milliseconds(100);

}  // namespace

LiveSession::LiveSession(const Ports& ports, transport::DialledTunnel dialled)
    : ports_(ports),
      tunnel_(std::move(dialled.tunnel)),
      facts_(std::move(dialled.facts)),
      group_(ports.executor),
      sender_ports_{ports.executor,
                    ports.clock,
                    ports.streams,
                    ports.ledger,
                    tunnel_,
                    group_,
                    ports.log,
                    [this](const StreamId& stream, stream::StreamPosition position) {
                      ports_.runner.acknowledge(stream, position);
                    }},
      feeder_(ports.runner, tunnel_, ports.log) {}

Task<Error> LiveSession::run() {
  ports_.set_drain(facts_.welcome.drain());
  ports_.heads.take_head(facts_.welcome.audit_head(), ports_.hub_log, ports_.hub_head_keys);
  take_positions(facts_.welcome.positions());
  std::vector<StreamId> streams;
  for (const auto& [task, entry] : ports_.ledger.tasks()) streams.push_back(entry.spec.stream_id);
  for (const auto& stream : streams) follow(stream, StreamSender::Opening::at_once);
  group_.spawn([this] { return announce_starts(); });
  group_.spawn([this] { return tell_questions(); });
  co_return co_await tunnel_.run(*this);
}

Task<void> LiveSession::close() {
  group_.cancel();
  co_await group_.join();
}

Task<void> LiveSession::announce_starts() {
  auto& started = ports_.runner.started();
  for (;;) {
    announce_running();
    co_await started.wait();
    co_await ports_.clock.sleep_for(announce_after);
    started.reset();
  }
}

void LiveSession::announce_running() {
  std::set<TaskId> running;
  v1::Control message;
  for (auto& task : ports_.runner.running_programs()) {
    if (!announced_.contains(task)) message.mutable_tasks_started()->add_task_ids(task.text());
    running.insert(std::move(task));
  }
  announced_ = std::move(running);
  if (!message.has_tasks_started()) return;
  // It goes again with the next session.
  if (const auto sent = tunnel_.send_control(message); !sent)
    ports_.log.failure("start not told", sent.error());
}

// What the hub held when it welcomed us. A stream that it holds to the end needs no sender.
void LiveSession::take_positions(const google::protobuf::RepeatedPtrField<v1::StreamPosition>& positions) {
  for (const auto& position : positions) {
    const auto stream = StreamId::parse(position.stream_id());
    const TaskEntry* entry = stream ? ports_.ledger.find_by_stream(*stream) : nullptr;
    if (entry == nullptr || entry->incarnation.bytes() != position.incarnation()) continue;
    positions_[*stream] = {position.offset(), position.complete()};
    ports_.runner.acknowledge(*stream, positions_[*stream]);
  }
}

// The whole list each time: a message that is lost with a session is made up for by the next.
Task<void> LiveSession::tell_questions() {
  for (bool was_empty = true;;) {
    const auto message = make_questions();
    const bool is_empty = message.questions().question().empty();
    if (!is_empty || !was_empty) {
      const auto sent = tunnel_.send_control(message);
      if (!sent) ports_.log.failure("open questions are not told", sent.error());
    }
    was_empty = is_empty;
    co_await ports_.consent.changed().wait_pulse();
  }
}

// What names files of this machine goes only where its owner lets the hub's people answer.
v1::Control LiveSession::make_questions() const {
  v1::Control message;
  auto& questions = *message.mutable_questions();
  for (const auto& [task, open] : ports_.consent.book().questions()) {
    if (open.answer) continue;
    auto& question = *questions.add_question();
    question.set_task_id(task.text());
    question.set_asked_at_ns(open.asked_at.nanoseconds);
    question.set_deadline_ns(open.deadline.nanoseconds);
    question.set_may_be_answered(ports_.hub_may_answer);
    question.set_may_be_for_session(open.may_be_for_session);
    if (!ports_.hub_may_answer) continue;
    question.set_why(open.why);
    question.set_program(open.program);
    question.set_program_sha256(open.program_sha256);
  }
  return message;
}

void LiveSession::take_answer(const v1::AnswerQuestion& message) {
  const auto task = TaskId::parse(message.task_id());
  const auto answer = find_answer(message.answer());
  const auto account = AccountId::parse(message.account_id());
  if (!ports_.hub_may_answer || !task || !answer || !account) {
    return ports_.log.warn("an answer of the hub is not taken: only the owner answers here");
  }
  // The start waits until it is durable.
  const auto taken = ports_.consent.answer(*task, *answer, account->text());
  if (!taken) return ports_.log.failure("an answer of the hub is not taken", taken.error());
  ports_.runner.note_answer(*task);
}

void LiveSession::follow(const StreamId& stream, StreamSender::Opening opening) {
  const auto known = positions_.find(stream);
  const auto position = known == positions_.end() ? stream::StreamPosition() : known->second;
  if (position.complete || senders_.contains(stream)) return;
  senders_[stream].sender = std::make_shared<StreamSender>(sender_ports_, stream, position, opening);
  group_.spawn([this, stream] { return send(stream); });
}

Task<void> LiveSession::send(StreamId stream) {
  const auto sender = senders_[stream].sender;
  co_await sender->replicate();
  senders_[stream].is_sent = true;
  drop_finished(stream);
}

// A sender is asked about acknowledgements until the hub has all of its stream.
void LiveSession::drop_finished(const StreamId& stream) {
  const auto sending = senders_.find(stream);
  if (sending == senders_.end() || !sending->second.is_sent) return;
  if (ports_.ledger.find_by_stream(stream) == nullptr) senders_.erase(sending);
}

void LiveSession::on_control(const v1::Control& message) {
  switch (message.message_case()) {
    case v1::Control::kCancelTask: return ports_.runner.cancel(message.cancel_task());
    case v1::Control::kAnswerQuestion: return take_answer(message.answer_question());
    case v1::Control::kSetDrain: return ports_.set_drain(message.set_drain().drain());
    case v1::Control::kRenewCertificate: return ports_.renew_certificate();
    case v1::Control::kStreamAcks:
      for (const auto& position : message.stream_acks().positions()) take_acknowledgement(position);
      return;
    default: return;  // a newer hub may say more than this version understands
  }
}

void LiveSession::on_heartbeat(const v1::Heartbeat& heartbeat) {
  ports_.heads.take_head(heartbeat.audit_head(), ports_.hub_log, ports_.hub_head_keys);
}

void LiveSession::take_acknowledgement(const v1::StreamPosition& position) {
  const auto stream = StreamId::parse(position.stream_id());
  const auto sender = stream ? senders_.find(*stream) : senders_.end();
  const TaskEntry* entry = stream ? ports_.ledger.find_by_stream(*stream) : nullptr;
  if (sender == senders_.end() || entry == nullptr) return;
  if (entry->incarnation.bytes() != position.incarnation()) return;
  sender->second.sender->acknowledge({position.offset(), position.complete()});
  drop_finished(*stream);
}

void LiveSession::on_open(transport::IncomingChannel incoming) {
  const auto& target = incoming.target();
  if (target.plane() == wire::Plane::stream) {
    return group_.spawn(
        [this, channel = std::move(incoming)]() mutable { return feeder_.feed(std::move(channel)); });
  }
  // Unknown and forbidden are told apart here only; to the hub both look the same.
  if (target.plane() != wire::Plane::task || target.target().name() != "default") {
    ports_.log.warn("a channel to an unknown target", {{"target", target.target().text()}});
    return incoming.refuse(Error(ErrorCode::target_unavailable, "the node does not offer this target"));
  }
  ports_.runner.take(std::move(incoming), tunnel_.hub_offset());
}

}  // namespace outhaul::node
