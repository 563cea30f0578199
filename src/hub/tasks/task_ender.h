// TaskEnder: every end of a task passes here once: its state, its row, the place of its stream, its slot.
//   runs on  the hub's strand
#pragma once

#include "base/task_group.h"
#include "hub/audit/hub_audit.h"
#include "hub/hub_ports.h"
#include "hub/nodes/node_registry.h"
#include "hub/tasks/live_task.h"
#include "hub/tasks/task_rows.h"
#include "stream/stream_store.h"
#include "wire/task_result.h"

namespace outhaul::hub {

class TaskEnder {
 public:
  struct Needs {
    TaskBoard& board;
    TaskRows& rows;
    stream::StreamStore& streams;
    const NodeRegistry& registry;
    HubAudit& audit;
  };
  TaskEnder(const HubPorts& ports, const Needs& needs);

  // The result of a node has come: audits it and takes its receipt, once. To be called before the result is
  // stored, so that one sync makes all of it durable.
  void audit_result(LiveTask& task, ByteView result);
  // The task's output stream is complete in `streams`: ends the task with the result in it as soon as that is
  // durable. One that is no result of this task ends it as failed. A task that has ended stays as it is.
  void end_when_durable(const LiveTaskPtr& task);
  // No node will give a result: cancelled before it was sent, waited too long, refused, or lost. `evidence`
  // says why. For the hub it has ended at once; others are told when it is durable.
  void end_by_hub(const LiveTaskPtr& task, store::TaskState state, const Error& evidence);

  Task<void> join();

 private:
  Task<void> wait_and_end(LiveTaskPtr task);
  // Both give what the row and its stream become.
  TaskRows::End end_by_node(const LiveTaskPtr& task, ByteView result);
  TaskRows::End end(const LiveTaskPtr& task, store::TaskEnd end);
  Task<void> write_after_audit(LiveTaskPtr task, TaskRows::End written);
  void write(const LiveTaskPtr& task, TaskRows::End written);
  static void show_end(LiveTask& task);
  TaskRows::End place_of_stream(const LiveTask& task, store::TaskEnd end) const;
  void forget(const LiveTask& task, bool is_archived);

  AsyncClock& clock_;
  const Log& log_;
  TaskBoard& board_;
  TaskRows& rows_;
  stream::StreamStore& streams_;
  const NodeRegistry& registry_;
  HubAudit& audit_;
  TaskGroup endings_;  // not the session's: a result that is here counts although its node is gone
};

// The result as a node would have given it, for an end that the hub decided.
wire::TaskResult result_of(const store::TaskRow& row);

}  // namespace outhaul::hub
