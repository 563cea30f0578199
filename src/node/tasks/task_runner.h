// TaskRunner: every task of a node. Judges what the hub sends, makes the decision durable before anyone
// learns of it, starts what was admitted once, and after a restart goes on with what the launcher kept.
//   runs on  the node's strand
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "audit/refusal_budget.h"
#include "base/random.h"
#include "base/task_group.h"
#include "node/tasks/task_run.h"
#include "transport/tunnel.h"
#include "wire/task_gate.h"

namespace outhaul::node {

// Told what happens to the streams of tasks. Called on the strand; must not block.
class StreamFollower {
 public:
  virtual ~StreamFollower() = default;
  // There is a stream to replicate; said again for each that an earlier life left.
  virtual void on_stream(const StreamId& stream) = 0;
};

class TaskRunner {
 public:
  // All outlive the runner. `on_fatal` is called once when the disk can no longer be trusted.
  struct Needs {
    RunPorts ports;
    Random& random;
    wire::TaskGate& gate;
    std::function<void(Error)> on_fatal;
  };
  TaskRunner(Needs needs, StreamFollower& follower);

  // After the journal and the streams are recovered: adopts `processes`, marks what was lost, goes on.
  void recover(std::vector<std::unique_ptr<sandbox::Process>> processes);

  // A channel of plane task, and the measured offset of the hub's clock.
  void take(transport::IncomingChannel incoming, std::optional<std::chrono::nanoseconds> hub_offset);
  void cancel(const v1::CancelTask& request);
  // The hub durably holds this much of an output stream.
  void acknowledge(const StreamId& stream, stream::StreamPosition position);
  // Ends all that run, for this reason, as a cancellation does: TERM, each task's grace, KILL.
  void end_all(EndReason reason);
  // Its owner has locked the node: ends all that run, at once, and starts nothing of what waits.
  void lock();
  // The question of this task may have been answered.
  void note_answer(const TaskId& task);

  // Who reads this stream of standard input; null when nobody does (any more).
  TaskRun* find_by_stdin(const StreamId& stream);
  std::uint32_t running() const { return static_cast<std::uint32_t>(runs_.size()); }
  std::vector<TaskId> live_tasks() const;
  // Those of them whose program runs now.
  std::vector<TaskId> running_programs() const;
  std::uint64_t failed_tasks() const { return failed_tasks_; }
  // Admitted by this process.
  std::uint64_t accepted_tasks() const { return accepted_tasks_; }
  // For task_replayed.
  std::optional<std::string> state_of(const TaskId& task) const;
  // Pulsed when a run ended or a stream went.
  Event& changed() { return changed_; }
  // Set when a task was started; whoever waits for it resets it.
  Event& started() { return needs_.ports.started; }
  Task<void> close();

 private:
  void add_run(const TaskId& task);
  Task<void> answer(transport::IncomingChannel incoming, wire::GateDecision decision);
  Task<void> run_task(TaskId task);
  Result<void> record(const wire::GateDecision& decision, ByteView envelope);
  Result<void> match_streams();
  void close_questions();
  void finish(const TaskId& task);

  Needs needs_;
  StreamFollower& follower_;
  std::map<TaskId, std::unique_ptr<TaskRun>> runs_;
  std::set<TaskId> acknowledged_;  // the hub has the result; the run itself is not over
  std::uint64_t failed_tasks_ = 0;
  std::uint64_t accepted_tasks_ = 0;
  audit::RefusalBudget refusals_;  // of envelopes that are not even a task of this node
  Event changed_;
  TaskGroup group_;
};

}  // namespace outhaul::node
