// TaskRun: one accepted task from its start to its durable result.
//   runs on  the node's strand; its owner owns the TaskGroup that run() is spawned in
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "audit/audit_log.h"
#include "base/async_clock.h"
#include "base/event.h"
#include "base/log.h"
#include "node/consent/consent_desk.h"
#include "node/node_settings.h"
#include "node/tasks/output_pace.h"
#include "node/tasks/output_writer.h"
#include "node/tasks/process_spec.h"
#include "node/tasks/receipt_writer.h"
#include "node/tasks/task_ledger.h"
#include "sandbox/process_launcher.h"
#include "wire/task_result.h"

namespace outhaul::node {

// What every run needs. All outlive the runs.
struct RunPorts {
  Executor executor;
  AsyncClock& clock;
  stream::Journal& journal;
  stream::StreamStore& streams;
  TaskLedger& ledger;
  const Log& log;
  const NodeSettings& settings;
  audit::AuditLog& audit;
  const ReceiptWriter& receipts;
  const NodeFacts& facts;
  ConsentDesk& consent;
  sandbox::ProcessLauncher& launcher;
  std::function<bool()> is_locked;  // by the node's owner
  Event& started;                   // set when a program was started
};

class TaskRun {
 public:
  // The task is in the ledger and its stream exists.
  TaskRun(const RunPorts& ports, const TaskId& task);

  // At most one of the two, before run(); neither: the task waits for consent and run() starts it, or it
  // started in an earlier life and nobody knows how it ended, so it is lost.
  void start() { start(make_process_spec(entry().spec, ports_.settings)); }
  void adopt(std::unique_ptr<sandbox::Process> process);

  // Completes when the result is durable here. Fails only when the disk did: then nothing that this node
  // says can be trusted any more.
  Task<Result<void>> run();

  // Ends the tree: TERM (or `signal`), at most `grace`, KILL. The result will say why. The first reason wins.
  void end(EndReason reason, int signal, Duration grace);
  // The hub durably holds the stream up to here.
  void note_acknowledged(std::uint64_t offset);

  // The question may have been answered.
  void note_answer() { consent_changed_.set(); }

  // A person may still let it start.
  bool is_asking() const { return is_asking_; }
  // Null when there is none (yet: is_asking(); echo, lost) or no more.
  sandbox::Process* process() { return process_.get(); }
  // Pulsed when the process changed: for whoever feeds it.
  Event& progress() { return progress_; }
  // "awaiting_consent", "starting", "running", "ended".
  std::string_view state() const;
  // The program has been executed and has not ended.
  bool is_program_running() const;
  // After run(): the end was none of the program's own.
  bool has_failed() const { return has_failed_; }

 private:
  // Totals written down that let the stream's front go once the hub has it.
  struct DropPoint {
    std::uint64_t offset = 0;
    stream::JournalPosition written = 0;
  };

  void note_execution(const sandbox::ProcessSpec& spec, std::optional<ExecutedFile> approved);
  void note_start();
  audit::AuditEntry end_entry(const wire::TaskResult& result) const;
  const TaskEntry& entry() const { return *ports_.ledger.find(task_); }
  // `approved` is the file that the program holds, whatever its path names by now.
  void start(sandbox::ProcessSpec program, std::optional<ExecutedFile> approved = {});
  void refuse_start(Error why);
  Task<Result<void>> await_consent();
  Task<Result<void>> ask();
  Task<Consent> await_answer();
  Task<Result<void>> start_with_consent();
  Task<Result<void>> append_with_room(std::function<Result<void>()> append);
  void say_question();
  Task<Result<void>> follow();
  Task<Result<void>> take_output();
  std::vector<sandbox::OutputChunk> peek_run(std::size_t most_chunks);
  Result<void> write(std::span<const sandbox::OutputChunk> run);
  Task<Result<void>> await_room(Error lack);
  void give_up_output();
  Task<void> await_change();
  Task<void> give_way();
  void check_timeout();
  std::optional<TimePoint> timeout_at() const;
  Result<void> write_down_totals();
  Task<Result<void>> echo();
  wire::TaskResult make_result() const;
  wire::TaskEnd make_end() const;
  std::optional<wire::Failed> failure_from_outside() const;
  wire::TaskEnd end_of_process() const;
  Task<Result<void>> conclude();
  Task<Result<void>> audit_end(audit::AuditEntry ended);
  Task<Result<void>> append_result();

  const RunPorts& ports_;
  TaskId task_;
  OutputWriter output_;
  std::unique_ptr<sandbox::Process> process_;
  std::optional<Error> start_failure_;
  bool is_started_ = false;
  bool is_asking_;
  bool has_failed_ = false;
  bool is_leaving_out_ = false;            // the disk was full for too long: output is counted and not kept
  std::optional<TimePoint> paused_at_;     // output waits for room
  std::optional<TimePoint> disk_full_at_;  // since when a full disk is the reason
  Event progress_;
  Event consent_changed_;  // set when the answer or the reason to end may have come
  std::optional<DropPoint> drop_point_;
  OutputPace pace_;
  mutable std::optional<TimePoint> timeout_deadline_;  // fixed when the program is first seen running
};

}  // namespace outhaul::node
