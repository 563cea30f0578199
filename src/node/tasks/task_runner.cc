#include "node/tasks/task_runner.h"

#include <csignal>

#include "base/planted_fault.h"
#include "node/tasks/last_word.h"

namespace outhaul::node {
namespace {

std::string_view word_of(const wire::TaskAction& action) {
  if (std::holds_alternative<wire::ArgvAction>(action)) return "argv";
  return std::holds_alternative<wire::ShellAction>(action) ? "shell" : "echo";
}

audit::AuditEntry acceptance_of(const wire::GateDecision& decision) {
  const auto& spec = *decision.admitted;
  audit::AuditEntry entry(audit::AuditAction::task_accepted, spec.owner.text(), spec.task_id.text());
  entry = std::move(entry).with("action", std::string(word_of(spec.action)));
  if (decision.user_key) entry = std::move(entry).with("signed_by", decision.user_key->text());
  return std::move(entry).with("isolation", std::string(name_of(spec.isolation)));
}

audit::AuditEntry refusal_of(const wire::GateDecision& decision) {
  // Without a record nothing that the envelope says is believed.
  const auto subject = decision.record ? decision.record->task_id.text() : std::string();
  audit::AuditEntry entry(audit::AuditAction::task_refused, "hub", subject);
  return std::move(entry).refused_by(*decision.refusal);
}

}  // namespace

TaskRunner::TaskRunner(Needs needs, StreamFollower& follower)
    : needs_(std::move(needs)),
      follower_(follower),
      changed_(needs_.ports.executor),
      group_(needs_.ports.executor) {}

void TaskRunner::recover(std::vector<std::unique_ptr<sandbox::Process>> processes) {
  if (const auto matched = match_streams(); !matched) return needs_.on_fatal(matched.error());
  for (const auto& [task, entry] : needs_.ports.ledger.tasks()) {
    follower_.on_stream(entry.spec.stream_id);
    // A power loss while the result was being moved may leave an ended task without it.
    const auto totals = needs_.ports.streams.find(entry.spec.stream_id);
    const bool has_result = totals && totals->complete;
    if (entry.phase != TaskPhase::ended || !has_result)
      runs_[task] = std::make_unique<TaskRun>(needs_.ports, task);
  }
  for (auto& process : processes) {
    const auto run = runs_.find(process->task());
    if (run != runs_.end()) {
      run->second->adopt(std::move(process));
      continue;
    }
    // Its result is written down already, or this journal never accepted it.
    if (!process->status().is_final()) process->end_tree(SIGKILL, Duration(0));
    process->forget();
  }
  close_questions();
  // By a list of their own: one that has nothing left to wait for ends, and leaves runs_, while it is
  // spawned.
  for (const auto& task : live_tasks()) {
    group_.spawn([this, task] { return run_task(task); });
  }
}

// A kill between two appends leaves a stream without its task, or a task without its stream.
Result<void> TaskRunner::match_streams() {
  auto& ports = needs_.ports;
  for (const auto& [task, entry] : ports.ledger.tasks()) {
    OUTHAUL_CHECK(ports.streams.create(entry.spec.stream_id, entry.incarnation));
  }
  for (const auto& stream : ports.streams.ids()) {
    if (ports.ledger.find_by_stream(stream) == nullptr) OUTHAUL_CHECK(ports.streams.forget(stream));
  }
  return {};
}

// A kill between two appends leaves a question whose task does not wait (any more).
void TaskRunner::close_questions() {
  auto& ports = needs_.ports;
  std::vector<TaskId> idle;
  for (const auto& [task, question] : ports.consent.book().questions()) {
    const auto* entry = ports.ledger.find(task);
    if (entry == nullptr || entry->phase != TaskPhase::waiting) idle.push_back(task);
  }
  for (const auto& task : idle) {
    // One that stays for want of room does no harm, and goes at the next start.
    const auto closed = ports.consent.close(task);
    if (!closed) ports.log.failure("a question without its task is kept", closed.error());
  }
}

void TaskRunner::take(transport::IncomingChannel incoming,
                      std::optional<std::chrono::nanoseconds> hub_offset) {
  const Bytes envelope = incoming.open().envelope().bytes();
  const wire::GateTime time{needs_.ports.clock.wall_now(), hub_offset};
  // From here to the end of record() nothing suspends: what the gate decided and what the journal holds
  // never differ at a point where others run.
  auto decision = needs_.gate.judge(envelope, time);
  if (const auto recorded = record(decision, envelope); !recorded) {
    incoming.refuse(Error(ErrorCode::node_disk_full, "the task could not be written down"));
    // The gate has used a nonce that no journal knows of: only a new start forgets it.
    return needs_.on_fatal(recorded.error());
  }
  group_.spawn([this, channel = std::move(incoming), what = std::move(decision)]() mutable {
    return answer(std::move(channel), std::move(what));
  });
}

Result<void> TaskRunner::record(const wire::GateDecision& decision, ByteView envelope) {
  auto& ports = needs_.ports;
  if (!decision.record) {
    // Whoever has a session may say this as often as they like; an answer to a duplicate is no refusal.
    if (decision.refusal->code() != ErrorCode::task_replayed)
      refusals_.note(ports.audit, ports.log, refusal_of(decision), ports.clock.now());
    return {};
  }
  // The entry first: a crash between the two may leave one of what did not happen, never the other way round.
  OUTHAUL_CHECK(ports.audit.append(decision.admitted ? acceptance_of(decision) : refusal_of(decision)));
  if (!decision.admitted) {
    OUTHAUL_CHECK(ports.ledger.append_refused(ports.journal, *decision.record));
    return {};
  }
  TaskEntry entry;
  entry.spec = *decision.admitted;
  entry.envelope = envelope;
  entry.incarnation = stream::Incarnation::make(needs_.random);
  // One batch: it runs as soon as this is durable, so a second one would only cost a sync.
  entry.phase = TaskPhase::starting;
  const auto& spec = *decision.admitted;
  if (ports.consent.asks(spec)) entry.phase = TaskPhase::waiting;
  // The stream first: one without its task is forgotten at the next start.
  const auto make = [&] { return ports.streams.create(spec.stream_id, entry.incarnation); };
  OUTHAUL_CHECK(with_reserve(ports.streams, make));
  const auto accept = [&] { return ports.ledger.append_admitted(ports.journal, *decision.record, entry); };
  OUTHAUL_CHECK(with_reserve(ports.streams, accept));
  runs_[spec.task_id] = std::make_unique<TaskRun>(ports, spec.task_id);
  ++accepted_tasks_;
  return {};
}

Task<void> TaskRunner::answer(transport::IncomingChannel incoming, wire::GateDecision decision) {
  auto& ports = needs_.ports;
  const bool starts_early = OUTHAUL_FAULT("starting_not_durable") && decision.admitted;
  if (starts_early) runs_[decision.admitted->task_id]->start();
  // Also for what was known before: the first decision may not be durable yet.
  const auto durable = OUTHAUL_FAULT("ack_before_fsync")
                           ? Result<void>()
                           : co_await ports.journal.durable(ports.journal.appended());
  if (!durable) {
    incoming.refuse(Error(ErrorCode::unavailable, "the node's disk failed"));
    needs_.on_fatal(durable.error());
    co_return;
  }
  if (!decision.admitted) {
    ports.log.info("task refused",
                   {{"code", name_of(decision.refusal->code())}, {"why", decision.refusal->what()}});
    incoming.refuse(*decision.refusal);
    co_return;
  }
  const TaskId task = decision.admitted->task_id;
  const auto phase = ports.ledger.find(task)->phase;
  if (!starts_early && phase != TaskPhase::waiting) runs_[task]->start();
  v1::Accept accept;
  accept.set_state(std::string(name_of(phase)));
  incoming.accept(std::move(accept)).finish();
  if (phase != TaskPhase::waiting) ports.log.info("task started", {{"task", task.text()}});
  follower_.on_stream(decision.admitted->stream_id);
  // Not awaited here: the channel and the signed bytes need not live as long as the task.
  group_.spawn([this, task] { return run_task(task); });
}

Task<void> TaskRunner::run_task(TaskId task) {
  const auto ended = co_await runs_[task]->run();
  if (!ended) {
    needs_.on_fatal(ended.error());
    co_return;
  }
  needs_.ports.log.info("task ended", {{"task", task.text()}});
  if (runs_[task]->has_failed()) ++failed_tasks_;
  runs_.erase(task);
  if (acknowledged_.erase(task) != 0) finish(task);
  changed_.pulse();
}

void TaskRunner::cancel(const v1::CancelTask& request) {
  const auto task = TaskId::parse(request.task_id());
  const auto run = task ? runs_.find(*task) : runs_.end();
  if (run == runs_.end()) return;
  audit::note(needs_.ports.audit, needs_.ports.log,
              audit::AuditEntry(audit::AuditAction::task_cancelled, "hub", task->text()));
  const auto* entry = needs_.ports.ledger.find(*task);
  const Duration grace = request.grace_ns() > 0 ? Duration(std::chrono::nanoseconds(request.grace_ns()))
                                                : Duration(entry->spec.term_grace);
  const int signal = 1 <= request.signal() && request.signal() <= 64 ? request.signal() : SIGTERM;
  run->second->end(EndReason::cancelled, signal, grace);
}

void TaskRunner::end_all(EndReason reason) {
  for (const auto& [task, run] : runs_) {
    run->end(reason, SIGTERM, needs_.ports.ledger.find(task)->spec.term_grace);
  }
}

void TaskRunner::lock() {
  for (const auto& [task, run] : runs_) run->end(EndReason::locked, SIGKILL, Duration(0));
}

void TaskRunner::note_answer(const TaskId& task) {
  if (const auto run = runs_.find(task); run != runs_.end()) run->second->note_answer();
}

void TaskRunner::acknowledge(const StreamId& stream, stream::StreamPosition position) {
  const TaskEntry* entry = needs_.ports.ledger.find_by_stream(stream);
  if (entry == nullptr) return;
  const TaskId task = entry->spec.task_id;
  const auto run = runs_.find(task);
  if (run != runs_.end()) {
    run->second->note_acknowledged(position.offset);
    if (position.complete) acknowledged_.insert(task);
  } else if (position.complete) {
    finish(task);
  } else if (const auto dropped = needs_.ports.streams.drop(stream, position.offset); !dropped) {
    needs_.ports.log.failure("acknowledged output is not dropped", dropped.error());
  }
}

// The hub has everything: what is left is the memory that the task ran.
void TaskRunner::finish(const TaskId& task) {
  auto& ports = needs_.ports;
  const StreamId stream = ports.ledger.find(task)->spec.stream_id;
  // Neither needs to be durable: after a crash the hub only says again that it holds the stream.
  const auto done = ports.ledger.append_done(ports.journal, task);
  const auto forgotten = ports.streams.forget(stream);
  if (!forgotten) ports.log.failure("a delivered stream is kept", forgotten.error());
  if (!done) ports.log.failure("a delivered task is kept", done.error());
  changed_.pulse();
}

TaskRun* TaskRunner::find_by_stdin(const StreamId& stream) {
  for (const auto& [task, run] : runs_) {
    if (needs_.ports.ledger.find(task)->spec.stdin_stream_id == stream) return run.get();
  }
  return nullptr;
}

std::vector<TaskId> TaskRunner::live_tasks() const {
  std::vector<TaskId> tasks;
  for (const auto& [task, run] : runs_) tasks.push_back(task);
  return tasks;
}

std::vector<TaskId> TaskRunner::running_programs() const {
  std::vector<TaskId> tasks;
  for (const auto& [task, run] : runs_) {
    if (run->is_program_running()) tasks.push_back(task);
  }
  return tasks;
}

std::optional<std::string> TaskRunner::state_of(const TaskId& task) const {
  const auto run = runs_.find(task);
  if (run != runs_.end()) return std::string(run->second->state());
  const auto* entry = needs_.ports.ledger.find(task);
  if (entry != nullptr) return std::string(name_of(entry->phase));
  if (needs_.ports.ledger.is_done(task)) return std::string(name_of(TaskPhase::ended));
  return std::nullopt;
}

Task<void> TaskRunner::close() {
  group_.cancel();
  co_await group_.join();
}

}  // namespace outhaul::node
