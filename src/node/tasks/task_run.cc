#include "node/tasks/task_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <utility>

#include "base/time_text.h"
#include "base/within.h"
#include "node/tasks/last_word.h"

namespace outhaul::node {
namespace {

using sandbox::ProcessState;

// A full disk is emptied by others, who tell nobody.
constexpr auto look_for_room_every = std::chrono::seconds(1);
// Small chunks cost more to look at than one write saves.
constexpr std::size_t max_run_chunks = 16;
// The output waits for a tunnel that nearly keeps up with it: what the tunnel is behind by more than the
// stream's tail is read back from the disk, byte for byte. The first mark, another turn and one full ring are
// less than a tail (StreamStoreConfig::tail_bytes); at the second one the tunnel is not idle yet.
constexpr std::uint64_t most_unread_bytes = 448U << 10U;
constexpr std::uint64_t few_unread_bytes = 224U << 10U;
// A running task's stream keeps at most about twice this beyond what the hub lacks.
constexpr std::uint64_t drop_step_bytes = 64U << 20U;

bool is_lack_of_room(const Error& error) {
  return error.code() == ErrorCode::exhausted || error.code() == ErrorCode::disk_full;
}

Result<void> drop_value(const Result<stream::EncodedRecord>& written) {
  if (!written) return fail(written.error());
  return {};
}

// Which program or directory it was: the launcher knows them as the system's reason alone.
wire::Failed failure_to_start(const Error& failure, const sandbox::ProcessSpec& spec) {
  const auto named = [&failure](const std::string& thing) {
    return wire::Failed{failure.code(), fmt::format("{}: {}", thing, failure.what())};
  };
  switch (failure.code()) {
    case ErrorCode::program_not_found:
    case ErrorCode::program_not_executable: return named(spec.argv.front());
    case ErrorCode::directory_unavailable: return named(spec.directory);
    default: return {failure.code(), failure.what()};
  }
}

wire::ProgramEnd program_end_of(const sandbox::ProcessStatus& status) {
  if (status.signal != 0) return wire::Signalled{status.signal};
  return wire::Exited{status.exit_code};
}

}  // namespace

TaskRun::TaskRun(const RunPorts& ports, const TaskId& task)
    : ports_(ports),
      task_(task),
      output_(ports.streams, ports.ledger.find(task)->spec.stream_id),
      is_asking_(ports.ledger.find(task)->phase == TaskPhase::waiting),
      progress_(ports.executor),
      consent_changed_(ports.executor) {}

void TaskRun::start(sandbox::ProcessSpec program, std::optional<ExecutedFile> approved) {
  is_started_ = true;
  note_execution(program, std::move(approved));
  if (std::holds_alternative<wire::EchoAction>(entry().spec.action)) return;
  if (entry().end_reason != EndReason::none) {
    return refuse_start(Error(ErrorCode::task_cancelled, "ended before it started"));
  }
  if (ports_.is_locked()) {
    return refuse_start(Error(ErrorCode::node_locked, "the node was locked before it started"));
  }
  auto process = ports_.launcher.start(program);
  if (process) {
    process_ = std::move(*process);
    ports_.started.set();
  } else {
    refuse_start(std::move(process).error());
  }
  note_start();
}

// Before the start: afterwards the file could be another.
void TaskRun::note_execution(const sandbox::ProcessSpec& spec, std::optional<ExecutedFile> approved) {
  if (!approved && ports_.facts.executed_file && !spec.argv.empty())
    approved = ports_.facts.executed_file(spec);
  Execution execution{ports_.clock.wall_now(), {}, {}};
  if (approved) {
    execution.executable = std::move(approved->path);
    execution.sha256 = std::move(approved->sha256);
  }
  // Not awaited: what a crash takes of it is missing in the receipt.
  const auto written = ports_.ledger.append_execution(ports_.journal, task_, std::move(execution));
  if (!written) ports_.log.failure("what a task executes is not written down", written.error());
}

void TaskRun::note_start() {
  audit::AuditEntry audited(audit::AuditAction::task_started, entry().spec.owner.text(), task_.text());
  const auto& execution = entry().execution;
  if (!execution.executable.empty()) {
    audited = std::move(audited).with("executable", execution.executable);
    audited = std::move(audited).with("executable_sha256", to_hex(execution.sha256));
  }
  audited = std::move(audited).with("isolation", std::string(name_of(wire::IsolationLevel::trusted)));
  if (start_failure_) audited = std::move(audited).failed_by(*start_failure_);
  audit::note(ports_.audit, ports_.log, std::move(audited));
}

audit::AuditEntry TaskRun::end_entry(const wire::TaskResult& result) const {
  audit::AuditEntry audited(audit::AuditAction::task_ended, entry().spec.owner.text(), task_.text());
  audited = std::move(audited).with("end", std::string(wire::state_of(result.end)));
  if (const auto* exited = std::get_if<wire::Exited>(&result.end))
    audited = std::move(audited).with("exit_code", std::to_string(exited->code));
  if (const auto* signalled = std::get_if<wire::Signalled>(&result.end))
    audited = std::move(audited).with("signal", std::to_string(signalled->signal));
  if (const auto* failed = std::get_if<wire::Failed>(&result.end))
    audited = std::move(audited).failed_by(Error(failed->code, failed->message));
  audited = std::move(audited).with("stdout_bytes", std::to_string(result.out.bytes));
  return std::move(audited).with("stderr_bytes", std::to_string(result.err.bytes));
}

void TaskRun::refuse_start(Error why) {
  is_started_ = true;
  start_failure_ = std::move(why);
}

void TaskRun::adopt(std::unique_ptr<sandbox::Process> process) {
  is_started_ = true;
  process_ = std::move(process);
  // The request to end it may have been lost with the process that made it.
  if (entry().end_reason == EndReason::locked) {
    process_->end_tree(SIGKILL, Duration(0));
  } else if (entry().end_reason != EndReason::none) {
    process_->end_tree(SIGTERM, std::min<Duration>(entry().spec.term_grace, ports_.settings.max_term_grace));
  }
}

std::string_view TaskRun::state() const {
  if (!process_) return name_of(entry().phase);
  return process_->status().state == ProcessState::starting ? "starting" : "running";
}

bool TaskRun::is_program_running() const {
  return process_ && process_->status().state == ProcessState::running;
}

void TaskRun::end(EndReason reason, int signal, Duration grace) {
  const bool is_over = process_ ? process_->status().is_final() : is_started_;
  if (is_over) return;
  if (entry().end_reason == EndReason::none) {
    // Not awaited: if it is lost, the program's own end stands in the result instead.
    const auto written = ports_.ledger.append_reason(ports_.journal, task_, reason);
    if (!written) ports_.log.failure("the reason of an end is not written down", written.error());
  }
  if (process_) process_->end_tree(signal, std::min(grace, ports_.settings.max_term_grace));
  consent_changed_.set();
}

Task<Result<void>> TaskRun::run() {
  OUTHAUL_CO_CHECK(co_await output_.recover(entry().totals));
  is_leaving_out_ = entry().end_reason == EndReason::disk_full;
  if (is_asking_) OUTHAUL_CO_CHECK(co_await await_consent());
  is_asking_ = false;
  progress_.pulse();
  if (process_) {
    OUTHAUL_CO_CHECK(co_await follow());
  } else if (!start_failure_) {
    OUTHAUL_CO_CHECK(co_await echo());
  }
  OUTHAUL_CO_CHECK(co_await conclude());
  // Only now: a task that waits and has no question is asked anew.
  std::function<Result<void>()> close = [this] { return ports_.consent.close(task_); };
  co_return co_await append_with_room(std::move(close));
}

Task<Result<void>> TaskRun::await_consent() {
  if (entry().end_reason == EndReason::none && ports_.consent.book().find(task_) == nullptr) {
    OUTHAUL_CO_CHECK(co_await ask());
    if (start_failure_) co_return Result<void>();
  }
  say_question();
  const Consent consent = co_await await_answer();
  if (entry().end_reason != EndReason::none) {
    start();
  } else if (consent == Consent::given) {
    OUTHAUL_CO_CHECK(co_await start_with_consent());
  } else if (consent == Consent::timed_out) {
    ports_.consent.note_timeout(task_);
    refuse_start(Error(ErrorCode::consent_timeout, "nobody at the node answered in time"));
  } else {
    refuse_start(Error(ErrorCode::consent_denied, "the person at the node said no"));
  }
  co_return Result<void>();
}

Task<Result<void>> TaskRun::ask() {
  auto question = co_await ports_.consent.make_question(entry().spec);
  if (!question) {
    refuse_start(std::move(question).error());
    co_return Result<void>();
  }
  std::function<Result<void>()> append = [this, &question] { return ports_.consent.ask(*question); };
  co_return co_await append_with_room(std::move(append));
}

// `denied` too when there is no question: a reason to end came before it was asked.
Task<Consent> TaskRun::await_answer() {
  auto& desk = ports_.consent;
  for (;;) {
    const Consent consent = desk.consent_of(task_);
    if (consent != Consent::open || entry().end_reason != EndReason::none) co_return consent;
    const auto left = desk.book().find(task_)->deadline - ports_.clock.wall_now();
    co_await within(ports_.clock, ports_.clock.now() + left, consent_changed_.wait());
    consent_changed_.reset();
  }
}

Task<Result<void>> TaskRun::append_with_room(std::function<Result<void>()> append) {
  for (;;) {
    const auto written = append();
    if (written || !is_lack_of_room(written.error())) co_return written;
    co_await ports_.clock.sleep_for(look_for_room_every);
  }
}

// The start is durable before anything is held: then nothing suspends between the look and the start.
Task<Result<void>> TaskRun::start_with_consent() {
  std::function<Result<void>()> append = [this]() -> Result<void> {
    OUTHAUL_CHECK(ports_.ledger.append_phase(ports_.journal, task_, TaskPhase::starting));
    return {};
  };
  OUTHAUL_CO_CHECK(co_await append_with_room(std::move(append)));
  OUTHAUL_CO_CHECK(co_await ports_.journal.durable(ports_.journal.appended()));
  auto held = co_await ports_.consent.hold_approved(entry().spec);
  if (held) {
    // Found good by hold_approved(): it is exactly what is held.
    const auto* question = ports_.consent.book().find(task_);
    ExecutedFile approved{question->program, parse_hex(question->program_sha256).value_or(Bytes())};
    start(*std::move(held), std::move(approved));
  } else {
    refuse_start(std::move(held).error());
  }
  std::function<Result<void>()> close = [this] { return ports_.consent.close(task_); };
  co_return co_await append_with_room(std::move(close));
}

// For whoever follows the output. What only the owner may know is not in it.
void TaskRun::say_question() {
  const auto* question = ports_.consent.book().find(task_);
  if (question == nullptr || question->answer) return;
  const auto json =
      fmt::format(R"({{"event":"awaiting_consent","deadline":"{}"}})", time_text(question->deadline));
  const auto written = output_.append_event(ports_.clock.wall_now(), json);
  if (!written) ports_.log.failure("a question is not told to its asker", written.error());
}

Task<Result<void>> TaskRun::follow() {
  for (;;) {
    process_->changed().reset();
    OUTHAUL_CO_CHECK(co_await take_output());
    progress_.pulse();
    if (process_->status().is_final() && !process_->peek_output()) co_return Result<void>();
    co_await await_change();
  }
}

Task<Result<void>> TaskRun::take_output() {
  std::size_t most_chunks = max_run_chunks;
  while (process_->peek_output()) {
    const auto run = peek_run(most_chunks);
    const auto written = write(run);
    if (!written && is_lack_of_room(written.error())) {
      // There may be room for one where there is none for all.
      if (std::exchange(most_chunks, 1) == 1) OUTHAUL_CO_CHECK(co_await await_room(written.error()));
      continue;
    }
    OUTHAUL_CO_CHECK(written);
    most_chunks = max_run_chunks;
    std::size_t bytes = 0;
    for (const auto& chunk : run) {
      bytes += chunk.bytes.size();
      process_->consume_output();
    }
    if (!is_leaving_out_) OUTHAUL_CO_CHECK(write_down_totals());
    if (pace_.ends_turn(bytes)) co_await give_way();
  }
  co_return Result<void>();
}

// What is there now and fits one write.
std::vector<sandbox::OutputChunk> TaskRun::peek_run(std::size_t most_chunks) {
  std::vector<sandbox::OutputChunk> run;
  std::size_t bytes = 0;
  while (run.size() < most_chunks && bytes < OutputPace::turn_bytes) {
    const auto chunk = process_->peek_output_at(run.size());
    if (!chunk) break;
    bytes += chunk->bytes.size();
    run.push_back(*chunk);
  }
  return run;
}

Task<void> TaskRun::give_way() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  // A program that writes without end never lets follow() see these.
  progress_.pulse();
  check_timeout();
  const StreamId stream = entry().spec.stream_id;
  if (ports_.streams.unread_bytes(stream) <= most_unread_bytes) co_return;
  const std::uint64_t written = output_.totals().offset;
  const Duration patience = pace_.patience(written);
  if (patience == Duration::zero()) co_return;
  const TimePoint began = ports_.clock.now();
  co_await within(ports_.clock, began + patience, ports_.streams.wait_for_readers(stream, few_unread_bytes));
  pace_.note_wait(written, ports_.clock.now() - began);
}

void TaskRun::check_timeout() {
  const auto deadline = process_ ? timeout_at() : std::nullopt;
  if (deadline && ports_.clock.now() >= *deadline)
    end(EndReason::timed_out, SIGTERM, entry().spec.term_grace);
}

Result<void> TaskRun::write(std::span<const sandbox::OutputChunk> run) {
  if (is_leaving_out_) {
    for (const auto& chunk : run) output_.leave_out(chunk);
    return {};
  }
  if (paused_at_) {
    OUTHAUL_CHECK(ports_.streams.check_room(stream::max_record_bytes));
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(ports_.clock.now() - *paused_at_).count();
    const auto json = fmt::format(R"({{"event":"output_paused","for_ms":{}}})", ms);
    OUTHAUL_CHECK(output_.append_event(ports_.clock.wall_now(), json));
    paused_at_.reset();
  }
  OUTHAUL_CHECK(output_.append(run));
  disk_full_at_.reset();
  return {};
}

// The process blocks meanwhile, for nobody empties its ring. A spool that is full is emptied by the hub; a
// full disk perhaps by nobody, so that ends the task in the end.
Task<Result<void>> TaskRun::await_room(Error lack) {
  const TimePoint now = ports_.clock.now();
  if (!paused_at_) {
    paused_at_ = now;
    ports_.log.failure("output paused", lack);
  }
  if (lack.code() != ErrorCode::disk_full) disk_full_at_.reset();
  if (lack.code() == ErrorCode::disk_full && !disk_full_at_) disk_full_at_ = now;
  if (disk_full_at_ && now >= *disk_full_at_ + ports_.settings.full_disk_patience) {
    give_up_output();
    co_return Result<void>();
  }
  co_await within(ports_.clock, now + look_for_room_every, ports_.streams.room().wait_pulse());
  check_timeout();
  co_return Result<void>();
}

void TaskRun::give_up_output() {
  is_leaving_out_ = true;
  ports_.log.warn("the disk is full: the task fails", {{"task", task_.text()}});
  if (entry().end_reason == EndReason::none) {
    const auto note = [this] {
      return ports_.ledger.append_reason(ports_.journal, task_, EndReason::disk_full);
    };
    const auto written = with_reserve(ports_.streams, note);
    if (!written) ports_.log.failure("the reason of an end is not written down", written.error());
  }
  if (!process_ || process_->status().is_final()) return;
  process_->end_tree(SIGTERM, std::min<Duration>(entry().spec.term_grace, ports_.settings.max_term_grace));
}

Task<void> TaskRun::await_change() {
  const auto deadline = timeout_at();
  if (!deadline) {
    co_await process_->changed().wait();
  } else if (!co_await within(ports_.clock, *deadline, process_->changed().wait())) {
    end(EndReason::timed_out, SIGTERM, entry().spec.term_grace);
  }
}

// Counted from the program's own start, so that a restarted node allows no second helping; fixed at the first
// look, so that a step of the wall clock changes nothing.
std::optional<TimePoint> TaskRun::timeout_at() const {
  const auto& status = process_->status();
  const auto& timeout = entry().spec.timeout;
  if (!timeout || status.state != ProcessState::running || entry().end_reason != EndReason::none)
    return std::nullopt;
  if (!timeout_deadline_) {
    const auto used = ports_.clock.wall_now() - status.started_at;
    timeout_deadline_ =
        ports_.clock.now() + std::clamp(*timeout - used, std::chrono::nanoseconds(0), *timeout);
  }
  return timeout_deadline_;
}

Result<void> TaskRun::write_down_totals() {
  const std::uint64_t last = entry().totals ? entry().totals->offset : 0;
  if (output_.totals().offset < last + drop_step_bytes) return {};
  const auto written = ports_.ledger.append_totals(ports_.journal, task_, output_.totals());
  if (!written) return is_lack_of_room(written.error()) ? Result<void>() : fail(written.error());
  drop_point_ = DropPoint{output_.totals().offset, *written};
  return {};
}

void TaskRun::note_acknowledged(std::uint64_t offset) {
  // The hash of what goes must be durable first.
  if (!drop_point_ || offset < drop_point_->offset) return;
  if (ports_.journal.durable_position() < drop_point_->written) return;
  const auto up_to = std::exchange(drop_point_, std::nullopt)->offset;
  const auto dropped = ports_.streams.drop(entry().spec.stream_id, up_to);
  if (!dropped) ports_.log.failure("acknowledged output is not dropped", dropped.error());
}

Task<Result<void>> TaskRun::echo() {
  const auto* action = std::get_if<wire::EchoAction>(&entry().spec.action);
  if (action == nullptr || action->text.empty()) co_return Result<void>();
  const Bytes text = action->text;
  const sandbox::OutputChunk chunk{sandbox::OutputKind::out, 0, ports_.clock.wall_now(), text};
  for (;;) {
    const auto written = write({&chunk, 1});
    if (written) co_return Result<void>();
    if (!is_lack_of_room(written.error())) co_return fail(written.error());
    OUTHAUL_CO_CHECK(co_await await_room(written.error()));
  }
}

// Why it ended before its program would have by itself.
std::optional<wire::Failed> TaskRun::failure_from_outside() const {
  if (entry().end_reason == EndReason::cancelled) return wire::Failed{ErrorCode::task_cancelled, "cancelled"};
  if (entry().end_reason == EndReason::timed_out) {
    return wire::Failed{ErrorCode::task_timed_out, "the task passed its time limit"};
  }
  if (entry().end_reason == EndReason::removed) {
    return wire::Failed{ErrorCode::node_removed, "its node was removed from the hub"};
  }
  if (!is_leaving_out_) return std::nullopt;
  return wire::Failed{ErrorCode::node_disk_full,
                      fmt::format("the node's disk has less than its floor of {} bytes free; {} bytes of "
                                  "output are left out",
                                  output_floor_bytes(ports_.settings), output_.left_out())};
}

wire::TaskEnd TaskRun::make_end() const {
  const bool has_ended = process_ && process_->status().state == ProcessState::ended;
  if (auto failure = failure_from_outside()) {
    if (has_ended) failure->program = program_end_of(process_->status());
    return *std::move(failure);
  }
  if (entry().end_reason == EndReason::locked)
    return wire::Failed{ErrorCode::node_locked, "the node was locked"};
  if (start_failure_) return wire::Failed{start_failure_->code(), start_failure_->what()};
  if (process_) return end_of_process();
  if (std::holds_alternative<wire::EchoAction>(entry().spec.action)) return wire::Exited{0};
  return wire::Failed{ErrorCode::task_lost, "the node restarted and its launcher has no record of the task"};
}

wire::TaskEnd TaskRun::end_of_process() const {
  const auto& status = process_->status();
  if (status.state == ProcessState::lost) {
    return wire::Failed{ErrorCode::task_lost, "the launcher died while the task ran"};
  }
  if (status.state == ProcessState::failed) {
    const auto failure = status.failure.value_or(Error(ErrorCode::spawn_failed, "no reason is known"));
    return failure_to_start(failure, make_process_spec(entry().spec, ports_.settings));
  }
  return std::visit([](const auto& way) { return wire::TaskEnd(way); }, program_end_of(status));
}

wire::TaskResult TaskRun::make_result() const {
  wire::TaskResult result;
  result.task_id = task_;
  result.end = make_end();
  result.ended_at = ports_.clock.wall_now();
  result.out = output_.out();
  result.err = output_.err();
  result.bytes_left_out = output_.left_out();
  result.isolation = wire::IsolationLevel::trusted;
  if (!process_) return result;
  const auto& status = process_->status();
  if (status.state != ProcessState::failed) result.started_at = status.started_at;
  if (status.ended_at != WallTime()) result.ended_at = status.ended_at;
  result.used = {status.duration, status.user_cpu, status.system_cpu, status.max_rss_bytes};
  result.processes_killed = status.processes_killed;
  result.pipe_holder = status.pipe_holder;
  return result;
}

Task<Result<void>> TaskRun::conclude() {
  OUTHAUL_CO_CHECK(co_await append_result());
  OUTHAUL_CO_CHECK(co_await ports_.streams.durable(entry().spec.stream_id));
  for (;;) {
    const auto written = ports_.ledger.append_phase(ports_.journal, task_, TaskPhase::ended);
    if (written) break;
    if (!is_lack_of_room(written.error())) co_return fail(written.error());
    co_await ports_.clock.sleep_for(look_for_room_every);
  }
  if (process_) process_->forget();
  process_.reset();
  progress_.pulse();
  co_return Result<void>();
}

// Just before the result, so that one sync makes both durable.
Task<Result<void>> TaskRun::audit_end(audit::AuditEntry ended) {
  for (;;) {
    const auto written = ports_.audit.append(ended);
    if (written || !is_lack_of_room(written.error())) co_return written;
    co_await ports_.clock.sleep_for(look_for_room_every);
  }
}

Task<Result<void>> TaskRun::append_result() {
  const StreamId stream = entry().spec.stream_id;
  wire::TaskResult result = make_result();
  result.receipt = ports_.receipts.write(entry(), result);
  has_failed_ = std::holds_alternative<wire::Failed>(result.end);
  OUTHAUL_CO_CHECK(co_await audit_end(end_entry(result)));
  const Bytes payload = wire::serialise_task_result(result);
  for (;;) {
    auto written = output_.append_gap(ports_.clock.wall_now());
    if (written) {
      written = drop_value(
          ports_.streams.append(stream, stream::RecordKind::result, ports_.clock.wall_now(), payload));
    }
    // conflict: an earlier life of this node wrote it and died before it noted the end.
    if (written || written.error().code() == ErrorCode::conflict) co_return Result<void>();
    if (!is_lack_of_room(written.error())) co_return fail(written.error());
    co_await ports_.clock.sleep_for(look_for_room_every);
  }
}

}  // namespace outhaul::node
