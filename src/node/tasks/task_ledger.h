// TaskLedger: what a node must not forget of its tasks: used nonces, accepted tasks with their signed
// bytes, which of them were started, how far their output is hashed, why they are being ended. A
// JournalOwner; every change is appended by the call that makes it and durable once the journal says so.
//   runs on  the node's strand
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/ids.h"
#include "crypto/resumable_sha256.h"
#include "stream/journal.h"
#include "stream/position.h"
#include "wire/task_gate.h"
#include "wire/task_spec.h"

namespace outhaul::node {

enum class TaskPhase : std::uint8_t {
  accepted = 1,  // durable, not started
  starting = 2,  // may have been executed: never start it again
  ended = 3,     // its result record is in its stream
  waiting = 4,   // durable, not started: the person at the node is asked
};
std::string_view name_of(TaskPhase phase);

// Why Outhaul itself is ending a task; what the program then exits with does not matter.
enum class EndReason : std::uint8_t {
  none = 0,
  cancelled = 1,
  timed_out = 2,
  disk_full = 3,
  locked = 4,
  removed = 5
};

// What was produced up to one offset of the output stream.
struct OutputTotals {
  std::uint64_t offset = 0;  // in the stream
  std::uint64_t out_bytes = 0;
  std::uint64_t err_bytes = 0;
  crypto::ResumableSha256 out_hash;
  crypto::ResumableSha256 err_hash;
};

// What is known of the program before it runs, for the receipt.
struct Execution {
  WallTime accepted_at;
  std::string executable;  // the file's path; empty: nothing was executed, or it was not found
  Bytes sha256;            // of that file; empty: it could not be read
};

struct TaskEntry {
  wire::TaskSpec spec;
  Bytes envelope;  // exactly as signed
  stream::Incarnation incarnation;
  TaskPhase phase = TaskPhase::accepted;
  EndReason end_reason = EndReason::none;
  std::optional<OutputTotals> totals;  // as last written down
  Execution execution;
};

class TaskLedger final : public stream::JournalOwner {
 public:
  // Ended tasks that are remembered after the hub has their results, for replays.
  static constexpr std::size_t max_remembered = 4096;

  // The journal is opened with this owner afterwards; all appends come after that. `gate` gets back its
  // records as they are replayed, and outlives the ledger.
  explicit TaskLedger(wire::TaskGate& gate) : gate_(gate) {}

  // Each appends and changes; on failure nothing changed.
  // A nonce that was used by a refusal. What was admitted goes with its acceptance, below.
  Result<stream::JournalPosition> append_refused(stream::Journal& journal, const wire::GateRecord& record);
  // The nonce and the task in one record: of two, a power loss might keep the first alone, and a task whose
  // nonce is used but that nobody has would be answered task_replayed and never run. In the phase of
  // `entry`: one batch may accept and start.
  Result<stream::JournalPosition> append_admitted(stream::Journal& journal, const wire::GateRecord& record,
                                                  TaskEntry entry);
  Result<stream::JournalPosition> append_phase(stream::Journal& journal, const TaskId& task, TaskPhase phase);
  Result<stream::JournalPosition> append_reason(stream::Journal& journal, const TaskId& task,
                                                EndReason reason);
  Result<stream::JournalPosition> append_execution(stream::Journal& journal, const TaskId& task,
                                                   Execution execution);
  Result<stream::JournalPosition> append_totals(stream::Journal& journal, const TaskId& task,
                                                OutputTotals totals);
  // The hub has the result: only that the task ended is remembered.
  Result<stream::JournalPosition> append_done(stream::Journal& journal, const TaskId& task);
  // A start of this process, and its orderly end. A start after a start without an end counts as a crash.
  Result<stream::JournalPosition> append_start(stream::Journal& journal);
  Result<stream::JournalPosition> append_orderly_end(stream::Journal& journal);

  const std::map<TaskId, TaskEntry>& tasks() const { return tasks_; }
  const TaskEntry* find(const TaskId& task) const;
  // Whose output stream this is; null when unknown.
  const TaskEntry* find_by_stream(const StreamId& stream) const;
  bool is_done(const TaskId& task) const;
  std::uint64_t crashes() const { return life_.crashes; }

  bool owns(stream::JournalType type) const override;
  Result<void> replay(stream::JournalType type, ByteView payload) override;
  Result<void> write_live(stream::Journal& journal) override;

 private:
  struct Life {
    std::uint64_t crashes = 0;
    bool is_running = false;
  };

  Result<void> replay_gate(ByteView payload);
  Result<void> replay_accept(ByteView payload);
  Result<void> replay_admitted(ByteView payload);
  Result<void> replay_execution(ByteView payload);
  Result<void> replay_change(stream::JournalType type, ByteView payload);
  Result<stream::JournalPosition> append_life(stream::Journal& journal, Life life);
  TaskEntry& entry_of(const TaskId& task);
  void add(TaskEntry entry);
  void finish(const TaskId& task);

  wire::TaskGate& gate_;
  std::map<TaskId, TaskEntry> tasks_;
  std::map<StreamId, TaskId> by_stream_;
  // What is_done() knows, the oldest first and by its id.
  std::deque<TaskId> done_;
  std::set<TaskId> is_done_;
  Life life_;
};

}  // namespace outhaul::node
