// NodeSession: one live session of one node. Ties what arrives over its tunnel to tasks and streams, and is
// the link by which they reach the node.
//   runs on  the hub's strand
#pragma once

#include "base/task_group.h"
#include "hub/audit/hub_audit.h"
#include "hub/nodes/node_link.h"
#include "hub/nodes/node_registry.h"
#include "hub/streams/ack_batch.h"
#include "hub/streams/stream_receiver.h"
#include "hub/tasks/dispatcher.h"
#include "transport/tunnel.h"

namespace outhaul::hub {

class NodeSession final : public NodeLink, private transport::TunnelHandler {
 public:
  struct Needs {
    Executor executor;
    NodeRegistry& registry;
    TaskBoard& board;
    Dispatcher& dispatcher;
    HubAudit& audit;
    StreamReceiver::Needs streams;
  };
  NodeSession(const Needs& needs, transport::AcceptedTunnel accepted);

  const SessionId& id() const { return id_; }
  // Attaches the node, serves the session until it ends, and waits for all that it started. Gives the reason.
  // Ends by close() only: cancellation is not heard, because the children must have unwound first.
  Task<Error> run();
  // True when the node answers before `deadline`.
  Task<bool> probe(TimePoint deadline) { return accepted_.tunnel.probe(deadline); }

  // NodeLink
  const NodeId& node() const override { return accepted_.facts.node; }
  Result<transport::Channel> open(const wire::ChannelTarget& target, v1::Open open) override;
  Result<void> send_control(const v1::Control& message) override;
  void close(Error reason) override;
  void spawn(std::function<Task<void>()> body) override;

 private:
  // transport::TunnelHandler
  void on_control(const v1::Control& message) override;
  void on_open(transport::IncomingChannel incoming) override;
  void on_heartbeat(const v1::Heartbeat& heartbeat) override;
  Bytes audit_head() override { return sent_head_.next(needs_.audit.heads()); }

  void attach();
  void note_running(const std::string& task_id);
  void take_audit_head(const Bytes& head);
  void drop_acknowledged_input(const v1::StreamPosition& position);

  Needs needs_;
  transport::AcceptedTunnel accepted_;
  SessionId id_;
  AckBatch acks_;
  StreamReceiver receiver_;
  audit::SentHead sent_head_;
  TaskGroup children_;
};

}  // namespace outhaul::hub
