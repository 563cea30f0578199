// TaskAdoption: finds the task to which a stream of a node belongs. A task that no row knows but that bears
// the hub's signature was sent before its row was durable, and the hub died in between: it gets its row now.
// So does one that was submitted after the backup that the hub was restored from; one that the backup has in
// doubt is bound to the node that hands it over.
//   runs on  the hub's strand
#pragma once

#include <variant>

#include "hub/audit/hub_audit.h"
#include "hub/hub_ports.h"
#include "hub/streams/stdin_inlet.h"
#include "hub/tasks/live_task.h"
#include "hub/tasks/task_rows.h"
#include "hub/tasks/task_signer.h"

namespace outhaul::hub {

class TaskAdoption {
 public:
  struct Needs {
    TaskBoard& board;
    TaskRows& rows;
    const TaskSigner& signer;
    StdinInlet& stdin_inlet;
    HubAudit& audit;
  };
  TaskAdoption(const HubPorts& ports, const Needs& needs);

  // The stream's task has ended and nothing more of the stream is wanted.
  struct Ended {};
  using Owner = std::variant<LiveTaskPtr, Ended>;

  // The task whose output is `stream`, on `node`. `envelope` is what the node gave with the stream; may be
  // empty.
  //   errors  stream_unknown: no row, and no envelope of ours over a task with this stream. denied: it is a
  //   task of
  //           another node. Those of the database
  Task<Result<Owner>> find_owner(StreamId stream, NodeId node, Bytes envelope);

  Task<void> join();

 private:
  Result<LiveTaskPtr> adopt(const StreamId& stream, const NodeId& node, Bytes envelope);
  Result<void> take_over(const LiveTaskPtr& task, const NodeId& node, Bytes envelope);
  Task<void> save(LiveTaskPtr task);

  Executor executor_;
  AsyncClock& clock_;
  store::Database& database_;
  const Log& log_;
  TaskBoard& board_;
  TaskRows& rows_;
  const TaskSigner& signer_;
  StdinInlet& stdin_inlet_;
  HubAudit& audit_;
  Random& random_;
  TaskGroup saves_;
};

// One line for lists: the words of argv, the line or the text, cut to 200 bytes at a character.
std::string action_summary(const wire::TaskAction& action);

}  // namespace outhaul::hub
