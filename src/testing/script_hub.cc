#include "testing/script_hub.h"

#include "stream/record_decoder.h"

namespace outhaul::testing {
namespace {

constexpr auto test_validity = std::chrono::minutes(5);

v1::StreamPosition to_message(const StreamId& stream, const ScriptHub::Held& held) {
  v1::StreamPosition position;
  position.set_stream_id(stream.text());
  position.set_incarnation(held.incarnation.bytes());
  position.set_offset(held.position.offset);
  position.set_complete(held.position.complete);
  return position;
}

}  // namespace

ScriptHub::ScriptHub(Executor executor, AsyncClock& clock, TestDeployment& deployment,
                     const TestNodeKeys& node)
    : executor_(executor),
      clock_(clock),
      deployment_(deployment),
      node_(node.identity().node),
      key_id_(deployment.make_id<KeyId>()),
      key_(crypto::SigningKey::generate(deployment.random())),
      group_(std::move(executor)) {}

wire::TaskSpec ScriptHub::make_task() {
  wire::TaskSpec spec;
  spec.task_id = deployment_.make_id<TaskId>();
  spec.issuer = deployment_.name();
  spec.audience = node_;
  spec.owner = deployment_.make_id<AccountId>();
  spec.issued_at = clock_.wall_now();
  spec.expires_at = spec.issued_at + test_validity;
  spec.nonce = deployment_.random().bytes(wire::task_nonce_bytes);
  spec.fence = {1, 1};
  spec.stream_id = deployment_.make_id<StreamId>();
  return spec;
}

Bytes ScriptHub::sign(const wire::TaskSpec& spec) { return wire::sign_task(spec, key_id_, key_).value(); }

std::vector<crypto::TrustedKey> ScriptHub::keys() const {
  std::vector<crypto::TrustedKey> keys;
  keys.push_back({key_id_, key_.verify_key()});
  return keys;
}

void ScriptHub::dispatch(const wire::TaskSpec& spec, Bytes envelope) {
  const auto target = wire::ChannelTarget::parse("task", "workspace:" + spec.workspace).value();
  v1::Open open;
  open.mutable_envelope()->set_bytes(std::move(envelope));
  answers_.erase(spec.task_id);
  group_.spawn([this, task = spec.task_id, target, open] { return await_answer(task, target, open); });
}

Task<void> ScriptHub::await_answer(TaskId task, wire::ChannelTarget target, v1::Open open) {
  auto channel = tunnel_->open(target, std::move(open));
  if (!channel) {
    answers_.emplace(task, fail(channel.error()));
    co_return;
  }
  auto answer = co_await channel->accepted();
  answers_.emplace(task, std::move(answer));
}

void ScriptHub::cancel(const TaskId& task) {
  v1::Control control;
  control.mutable_cancel_task()->set_task_id(task.text());
  static_cast<void>(tunnel_->send_control(control).has_value());
}

void ScriptHub::answer_question(const TaskId& task, const std::string& answer) {
  v1::Control control;
  auto& message = *control.mutable_answer_question();
  message.set_task_id(task.text());
  message.set_answer(answer);
  message.set_account_id("acc_01jd0000000000000000000000");
  static_cast<void>(tunnel_->send_control(control).has_value());
}

void ScriptHub::write_stdin(const StreamId& stream, Bytes bytes, bool is_end) {
  group_.spawn([this, stream, bytes, is_end] { return feed(stream, bytes, is_end); });
}

Task<void> ScriptHub::feed(StreamId stream, Bytes bytes, bool is_end) {
  const auto target = wire::ChannelTarget::parse("stream", "stream:" + stream.text()).value();
  v1::Open open;
  open.mutable_stream()->set_incarnation(Bytes(stream::Incarnation::size_bytes, 'i'));
  auto channel = tunnel_->open(target, std::move(open));
  if (!channel || !co_await channel->accepted()) co_return;
  const auto now = clock_.wall_now();
  Bytes wire(stream::EncodedRecord::make(stream::RecordKind::standard_output, 0, now, bytes).bytes().view());
  if (is_end)
    wire.append(stream::EncodedRecord::make(stream::RecordKind::end, bytes.size(), now, {}).bytes().view());
  if (!co_await channel->send(std::move(wire))) co_return;
  channel->finish();
  // Until the node has read it all and lets the channel go.
  const auto end = co_await channel->receive();
  static_cast<void>(end.has_value());
}

const ScriptHub::Held* ScriptHub::find(const StreamId& stream) const {
  const auto found = held_.find(stream);
  return found == held_.end() ? nullptr : &found->second;
}

std::uint64_t ScriptHub::stdin_acknowledged(const StreamId& stream) const {
  const auto found = stdin_acknowledged_.find(stream);
  return found == stdin_acknowledged_.end() ? 0 : found->second;
}

void ScriptHub::cut() {
  if (link_) link_->cut();
}

void ScriptHub::lose_everything() {
  cut();
  held_.clear();
}

void ScriptHub::turn_away(ErrorCode reason) {
  refuses = reason;
  if (tunnel_ != nullptr) tunnel_->close(Error(reason, "turned away"));
}

Task<void> ScriptHub::close() {
  group_.cancel();
  co_await group_.join();
}

Task<Result<std::unique_ptr<transport::Carrier>>> ScriptHub::dial() {
  if (is_away) co_return fail(ErrorCode::unavailable, "dial: nobody answers");
  auto carriers = make_memory_carriers(executor_);
  link_ = carriers.link;
  group_.spawn([this, end = std::move(carriers.hub)]() mutable { return serve(std::move(end)); });
  co_return std::move(carriers.node);
}

Task<void> ScriptHub::serve(std::unique_ptr<transport::Carrier> carrier) {
  wire::HubSession::Config config;
  config.deployment = deployment_.name();
  config.authorities.push_back(deployment_.certificate());
  const transport::TunnelPorts ports{clock_, deployment_.random()};
  auto accepted = co_await transport::accept_tunnel(std::move(carrier), std::move(config), *this, ports);
  if (!accepted) co_return;
  transport::Tunnel mine = std::move(accepted->tunnel);
  tunnel_ = &mine;
  const Error reason = co_await mine.run(*this);
  static_cast<void>(reason.code());
  if (tunnel_ == &mine) tunnel_ = nullptr;
}

Task<Result<v1::Welcome>> ScriptHub::admit(const wire::HelloFacts& facts, const transport::CarrierPeer&) {
  if (refuses) co_return fail(*refuses, "turned away");
  last_hello_ = facts.hello;
  v1::Welcome welcome;
  welcome.set_session_id(deployment_.make_id<SessionId>().text());
  welcome.set_hub_epoch(1);
  for (const auto& position : facts.hello.unacknowledged()) {
    const auto held = held_.find(StreamId::assume(position.stream_id()));
    if (held != held_.end()) *welcome.add_positions() = to_message(held->first, held->second);
  }
  co_return welcome;
}

void ScriptHub::on_control(const v1::Control& message) {
  for (const auto& task : message.tasks_started().task_ids()) told_running_.insert(TaskId::assume(task));
  if (message.has_questions()) questions_ = message.questions();
  for (const auto& position : message.stream_acks().positions()) {
    stdin_acknowledged_[StreamId::assume(position.stream_id())] = position.offset();
  }
}

void ScriptHub::on_open(transport::IncomingChannel incoming) {
  group_.spawn([this, channel = std::move(incoming)]() mutable { return keep(std::move(channel)); });
}

Task<void> ScriptHub::keep(transport::IncomingChannel incoming) {
  const auto id = StreamId::assume(incoming.target().target().name());
  const auto open = incoming.open();
  if (forgets_streams && !open.has_envelope() && !held_.contains(id)) {
    incoming.refuse(Error(ErrorCode::stream_unknown, "no such stream"));
    co_return;
  }
  Held& held = held_[id];
  held.was_shown_envelope = held.was_shown_envelope || open.has_envelope();
  const auto incarnation = stream::Incarnation::parse(open.stream().incarnation()).value();
  held.incarnation = incarnation;
  const stream::ReaderCursor::Peer peer{incarnation, open.stream().from(), open.stream().dropped_before()};
  const stream::ReaderCursor::Held before{held.incarnation, held.position};
  auto opened = stream::ReaderCursor::open(peer, before);
  v1::Accept accept;
  *accept.mutable_position() = to_message(id, held);
  auto channel = incoming.accept(std::move(accept));
  stream::RecordDecoder decoder;
  for (;;) {
    const auto bytes = co_await channel.receive();
    if (!bytes || !*bytes) co_return;
    decoder.feed(**bytes);
    while (auto record = decoder.next().value()) {
      const auto known = opened->first.position().offset;
      const auto verdict = opened->first.offer(record->header(), record->span()).value();
      if (verdict == stream::ReaderCursor::Verdict::ignore) continue;
      take(held, verdict == stream::ReaderCursor::Verdict::append ? *record : record->tail_from(known));
      held.position = opened->first.position();
    }
    if (acknowledges) acknowledge(id, held);
  }
}

void ScriptHub::take(Held& held, const stream::EncodedRecord& record) {
  switch (record.header().kind) {
    case stream::RecordKind::standard_output: held.out.append(record.payload()); break;
    case stream::RecordKind::standard_error: held.err.append(record.payload()); break;
    case stream::RecordKind::event: held.events.append(record.payload()); break;
    case stream::RecordKind::result: held.result = wire::parse_task_result(record.payload()).value(); break;
    case stream::RecordKind::gap:
    case stream::RecordKind::end: break;
  }
}

void ScriptHub::acknowledge(const StreamId& stream, const Held& held) {
  v1::Control control;
  *control.mutable_stream_acks()->add_positions() = to_message(stream, held);
  if (tunnel_) static_cast<void>(tunnel_->send_control(control).has_value());
}

}  // namespace outhaul::testing
