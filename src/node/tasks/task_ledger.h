// TaskLedger: what a node must not forget of its tasks: used nonces, accepted tasks with their signed
// bytes, which of them were started, how they ended. A JournalOwner; every change is appended by the call
// that makes it and durable once the journal says so.
//   runs on  the node's strand
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/ids.h"
#include "stream/journal.h"
#include "stream/position.h"
#include "wire/task_gate.h"
#include "wire/task_spec.h"

namespace outhaul::node {

enum class TaskPhase : std::uint8_t {
  accepted = 1,  // durable, not started
  starting = 2,  // may have been executed: never start it again
  ended = 3,     // its result record is in its stream
};
std::string_view name_of(TaskPhase phase);

struct TaskEntry {
  wire::TaskSpec spec;
  Bytes envelope;  // exactly as signed
  stream::Incarnation incarnation;
  TaskPhase phase = TaskPhase::accepted;
};

class TaskLedger final : public stream::JournalOwner {
 public:
  // Ended tasks whose states are remembered after the hub has their results, for replays.
  static constexpr std::size_t max_remembered = 4096;

  // Gives the gate's records that must live on; set before the journal is opened.
  explicit TaskLedger(std::function<std::vector<wire::GateRecord>()> live_gate_records);

  // Each appends and changes; on failure nothing changed. `append_accept` takes the phase that it is
  // accepted in: one batch may accept and start.
  Result<stream::JournalPosition> append_gate(stream::Journal& journal, const wire::GateRecord& record);
  Result<stream::JournalPosition> append_accept(stream::Journal& journal, TaskEntry entry);
  Result<stream::JournalPosition> append_phase(stream::Journal& journal, const TaskId& task, TaskPhase phase);
  // The hub has the result: only the task's last state is kept.
  Result<stream::JournalPosition> append_done(stream::Journal& journal, const TaskId& task);
  // A start of this process and its orderly end. Starts without an end before them are crashes.
  Result<stream::JournalPosition> append_boot(stream::Journal& journal);
  Result<stream::JournalPosition> append_clean_end(stream::Journal& journal);

  const std::map<TaskId, TaskEntry>& tasks() const { return tasks_; }
  const TaskEntry* find(const TaskId& task) const;
  // The word for a replayed task; empty when it is not known (any more).
  std::optional<std::string> state_of(const TaskId& task) const;
  std::uint64_t crashes() const { return crashes_; }
  // What the journal held of the gate; taken once, after open().
  std::vector<wire::GateRecord> take_gate_records() { return std::move(replayed_gate_); }

  bool owns(stream::JournalType type) const override;
  Result<void> replay(stream::JournalType type, ByteView payload) override;
  Result<void> write_live(stream::Journal& journal) override;

 private:
  Result<void> replay_accept(ByteView payload);
  Result<void> replay_phase(ByteView payload);
  void remember_done(const TaskId& task);

  std::function<std::vector<wire::GateRecord>()> live_gate_records_;
  std::map<TaskId, TaskEntry> tasks_;
  std::deque<TaskId> done_;  // the oldest first
  std::vector<wire::GateRecord> replayed_gate_;
  std::uint64_t crashes_ = 0;
  bool is_running_ = false;  // the last start has no orderly end
};

}  // namespace outhaul::node
