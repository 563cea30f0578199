// Dispatcher: which task goes to which node and when; keeps the queue moving and ends what waits too long.
//   runs on  the hub's strand
#pragma once

#include "hub/hub_ports.h"
#include "hub/nodes/node_registry.h"
#include "hub/tasks/courier.h"
#include "hub/tasks/doubt_book.h"
#include "hub/tasks/live_task.h"
#include "hub/tasks/task_ender.h"

namespace outhaul::hub {

class Dispatcher {
 public:
  struct Needs {
    TaskBoard& board;
    NodeRegistry& registry;
    Courier& courier;
    TaskEnder& ender;
    const stream::StreamStore& streams;
  };
  Dispatcher(const HubPorts& ports, const Needs& needs) : clock_(ports.clock), needs_(needs) {}

  // user_signature_missing: nobody has signed the task, and all nodes that it could run on ask for that. Said
  // at once, for waiting would not help.
  Result<void> check_signature(const LiveTask& task) const;
  // Sends a task whose row is not durable yet, when a node is free now; else it stays in the queue.
  void place_fresh(const LiveTaskPtr& task);
  // Moves the queue on whenever something has changed, until cancelled.
  Task<void> run();
  // Per node, why a queued task does not run there. A node that could take it is left out: it is about to.
  std::vector<Waiting> waiting(const LiveTask& task) const;

  // A node has attached. Matches what the hub believes to run there with what the node knows: goes on, is
  // sent again, or is lost. A task whose stream is complete here is about to end and is left alone.
  void reconcile(NodeLink& link, const v1::Hello& hello);
  // The node is gone for good: what it was running is lost.
  void lose_all(const NodeId& node, const Error& evidence);
  // Nobody waits any more for what the node may hold of tasks that a restore put in doubt.
  void note_given_up(const NodeId& node);

 private:
  bool is_complete(const StreamId& stream) const;
  std::optional<NodeId> choose(const LiveTask& task);
  NodeFacts& facts_now(NodeRecord& record) const;
  bool can_take(const LiveTask& task, NodeRecord& record) const;
  bool has_room() const;
  void dispatch_queued();
  void expire_queued();
  void settle_doubts();
  void reconcile_unknown(const LiveTaskPtr& task, NodeLink& link, const v1::Hello& hello);

  AsyncClock& clock_;
  Needs needs_;
  DoubtBook doubts_;
};

}  // namespace outhaul::hub
