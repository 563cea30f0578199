#include "hub/nodes/node_session.h"

#include <boost/asio/this_coro.hpp>

namespace outhaul::hub {

NodeSession::NodeSession(const Needs& needs, transport::AcceptedTunnel accepted)
    : needs_(needs),
      accepted_(std::move(accepted)),
      id_(SessionId::assume(accepted_.welcome.session_id())),
      acks_(needs.executor, needs.streams.clock, needs.streams.streams),
      receiver_(needs.streams, acks_),
      children_(needs.executor) {}

Task<Error> NodeSession::run() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  attach();
  children_.spawn([this] { return acks_.run(*this); });
  needs_.dispatcher.reconcile(*this, accepted_.facts.hello);
  auto reason = co_await accepted_.tunnel.run(*this);
  needs_.registry.detach(node(), id_);
  children_.cancel();
  co_await children_.join();
  co_return reason;
}

void NodeSession::attach() {
  NodeAttachment attachment;
  attachment.link = this;
  attachment.session = id_;
  attachment.since = needs_.streams.clock.wall_now();
  needs_.registry.attach(node(), std::move(attachment), accepted_.facts.hello);
  take_audit_head(accepted_.facts.hello.audit_head());
}

void NodeSession::take_audit_head(const Bytes& head) {
  const auto* record = needs_.registry.find(node());
  if (head.empty() || record == nullptr) return;
  needs_.audit.heads().take_head(head, node().text(), audit::head_keys(record->row.signing_key));
}

Result<transport::Channel> NodeSession::open(const wire::ChannelTarget& target, v1::Open open) {
  return accepted_.tunnel.open(target, std::move(open));
}

Result<void> NodeSession::send_control(const v1::Control& message) {
  return accepted_.tunnel.send_control(message);
}

void NodeSession::close(Error reason) {
  // At once for everybody who looks for a node to use; the goodbye takes a moment.
  needs_.registry.detach(node(), id_);
  accepted_.tunnel.close(std::move(reason));
}

void NodeSession::spawn(std::function<Task<void>()> body) { children_.spawn(std::move(body)); }

void NodeSession::on_control(const v1::Control& message) {
  for (const auto& id : message.tasks_started().task_ids()) note_running(id);
  if (message.has_questions()) needs_.registry.note_questions(node(), message.questions());
  for (const auto& position : message.stream_acks().positions()) drop_acknowledged_input(position);
}

void NodeSession::note_running(const std::string& task_id) {
  const auto id = TaskId::parse(task_id);
  const auto task = id ? needs_.board.find(*id) : nullptr;
  if (task) needs_.streams.courier.note_running(task, *this);
}

// What the node holds of a task's input need not be held here. Anything else it claims is ignored: it
// acknowledges only what was sent to it.
void NodeSession::drop_acknowledged_input(const v1::StreamPosition& position) {
  const auto id = StreamId::parse(position.stream_id());
  if (!id) return;
  const auto task = needs_.board.find_by_stream(*id);
  const auto totals = needs_.streams.streams.find(*id);
  if (!task || !totals || task->row.node != node() || task->row.stdin_stream != *id) return;
  const auto dropped = needs_.streams.streams.drop(*id, std::min(position.offset(), totals->end));
  if (!dropped) needs_.streams.log.failure("acknowledged input not dropped", dropped.error());
}

void NodeSession::on_open(transport::IncomingChannel incoming) {
  if (incoming.target().plane() != wire::Plane::stream) {
    return incoming.refuse(Error(ErrorCode::target_unavailable, "the hub serves no such target"));
  }
  auto receive = [this, channel = std::move(incoming)]() mutable -> Task<void> {
    return receiver_.receive(std::move(channel), *this);
  };
  children_.spawn(std::move(receive));
}

void NodeSession::on_heartbeat(const v1::Heartbeat& heartbeat) {
  needs_.registry.note_heartbeat(node(), heartbeat.load(), needs_.streams.clock.wall_now());
  needs_.board.wake_dispatcher();
  take_audit_head(heartbeat.audit_head());
}

}  // namespace outhaul::hub
