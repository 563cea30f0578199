// Courier: brings a signed task to its node and settles the answer.
//   runs on  the hub's strand
#pragma once

#include "base/task_group.h"
#include "hub/audit/hub_audit.h"
#include "hub/hub_ports.h"
#include "hub/nodes/node_registry.h"
#include "hub/streams/stdin_pump.h"
#include "hub/tasks/live_task.h"
#include "hub/tasks/task_ender.h"
#include "hub/tasks/task_rows.h"
#include "hub/tasks/task_signer.h"

namespace outhaul::hub {

// What a refusal of the node means for the task.
enum class RefusalMeaning {
  known,        // the node has it already: an acknowledgement
  not_there,    // the nonce is used up, so these bytes start nowhere: back to the queue
  not_yet,      // the nonce is not used up, so these bytes may still start there: it waits for that node
  too_late,     // the envelope had expired when it came: sign again, once
  undelivered,  // the answer did not come: ask again after the next attachment
  final,        // the task ends as failed with this code
};
RefusalMeaning meaning_of(ErrorCode refusal);

class Courier {
 public:
  struct Needs {
    TaskBoard& board;
    TaskRows& rows;
    TaskEnder& ender;
    NodeRegistry& registry;
    TaskSigner& signer;
    StdinPump& stdin_pump;
    HubAudit& audit;
  };
  Courier(const HubPorts& ports, const Needs& needs);

  // Sends a dispatched task, which the node does not know, over a new session: the same bytes while they are
  // valid, so that a node which knows them after all only says so; else signed again.
  void send_again(const LiveTaskPtr& task, NodeLink& link);
  // The node is known to hold the task durably: it answered, it named it, or it opened its stream.
  void note_accepted(const LiveTaskPtr& task, NodeLink& link);
  // The node says that the program runs. Of a task that is not on it that changes nothing.
  void note_running(const LiveTaskPtr& task, NodeLink& link);
  // What a node that holds the task needs of us again after it attached.
  void resume(const LiveTaskPtr& task, NodeLink& link);
  void send_cancel(const LiveTask& task, NodeLink& link);
  // Signs a saved task for `node`, binds it there and sends it when that is durable: a crash in between must
  // not leave a row that another node could be chosen for. Only for a task that no node can have.
  void sign_and_send(const LiveTaskPtr& task, const NodeId& node);
  // The same for a task whose row is not durable yet, at once: nobody was told of it, and if the row is lost
  // the node's stream brings it back.
  void sign_and_overtake(const LiveTaskPtr& task, NodeLink& link);

  Task<void> join();

 private:
  void send(const LiveTaskPtr& task, NodeLink& link);
  Task<void> offer(LiveTaskPtr task, NodeLink& link);
  bool sign(const LiveTaskPtr& task, const NodeId& node);
  Task<void> commit_and_send(LiveTaskPtr task);
  void settle_refusal(const LiveTaskPtr& task, NodeLink& link, const Error& refusal);
  Task<void> offer_later(LiveTaskPtr task, NodeLink& link);
  void put_back(const LiveTaskPtr& task);

  Needs needs_;
  AsyncClock& clock_;
  const Log& log_;
  TaskGroup commits_;  // not the session's: a commit goes on when the session ends
};

}  // namespace outhaul::hub
