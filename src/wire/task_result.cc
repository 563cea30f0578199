#include "wire/task_result.h"

#include <algorithm>

#include "crypto/digest.h"
#include "outhaul/v1/task.pb.h"
#include "wire/utf8.h"

namespace outhaul::wire {
namespace {

constexpr std::size_t max_message_text_bytes = 4096;
constexpr std::size_t max_holder_bytes = 256;
constexpr int most_exit_code = 255;
constexpr int most_signal = 64;

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

// Codes with a word of their own; every other failure is FAILED.
v1::TaskResult::End end_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::task_cancelled: return v1::TaskResult::CANCELLED;
    case ErrorCode::task_timed_out: return v1::TaskResult::TIMED_OUT;
    case ErrorCode::hub_restored:
    case ErrorCode::task_lost: return v1::TaskResult::LOST;
    default: return v1::TaskResult::FAILED;
  }
}

Result<Exited> exit_of(const v1::TaskResult& message) {
  if (message.exit_code() < 0 || message.exit_code() > most_exit_code)
    return violation("task result: exit_code");
  return Exited{message.exit_code()};
}

Result<Signalled> signal_of(const v1::TaskResult& message) {
  if (message.signal() < 1 || message.signal() > most_signal) return violation("task result: signal");
  return Signalled{message.signal()};
}

Result<std::optional<ProgramEnd>> program_end_of(const v1::TaskResult& message) {
  if (message.has_exit_code()) {
    OUTHAUL_TRY(exited, exit_of(message));
    return std::optional<ProgramEnd>(exited);
  }
  if (message.signal() == 0) return std::optional<ProgramEnd>();
  OUTHAUL_TRY(signalled, signal_of(message));
  return std::optional<ProgramEnd>(signalled);
}

Result<TaskEnd> failure_of(const v1::TaskResult& message) {
  if (message.error_message().size() > max_message_text_bytes) return violation("task result: error_message");
  // A code of a newer node still is a failure, and its sentence still says which.
  const auto code = find_error_code(message.error_code()).value_or(ErrorCode::internal);
  if (message.end() != v1::TaskResult::FAILED && end_of(code) != message.end()) {
    return violation("task result: error_code does not fit the end");
  }
  OUTHAUL_TRY(program, program_end_of(message));
  return TaskEnd(Failed{code, message.error_message(), program});
}

Result<TaskEnd> end_of(const v1::TaskResult& message) {
  switch (message.end()) {
    case v1::TaskResult::EXITED: {
      OUTHAUL_TRY(exited, exit_of(message));
      return TaskEnd(exited);
    }
    case v1::TaskResult::SIGNALLED: {
      OUTHAUL_TRY(signalled, signal_of(message));
      return TaskEnd(signalled);
    }
    case v1::TaskResult::FAILED:
    case v1::TaskResult::CANCELLED:
    case v1::TaskResult::TIMED_OUT:
    case v1::TaskResult::LOST: return failure_of(message);
    default: return violation("task result: no end that this version knows");
  }
}

Result<void> check_numbers(const v1::TaskResult& message) {
  const auto smallest = std::min({message.started_at_ns(), message.ended_at_ns(), message.duration_ns(),
                                  message.user_cpu_ns(), message.system_cpu_ns(), message.max_rss_bytes()});
  if (smallest < 0) return violation("task result: a negative time or size");
  for (const auto* const sha256 : {&message.stdout_sha256(), &message.stderr_sha256()}) {
    if (!sha256->empty() && sha256->size() != crypto::sha256_bytes)
      return violation("task result: SHA-256 length");
  }
  if (message.pipe_holder().size() > max_holder_bytes) return violation("task result: pipe_holder");
  if (message.receipt().size() > max_receipt_bytes) return violation("task result: receipt");
  return {};
}

void write(const Exited& exited, v1::TaskResult& message) { message.set_exit_code(exited.code); }

void write(const Signalled& signalled, v1::TaskResult& message) { message.set_signal(signalled.signal); }

void write_end(const TaskEnd& end, v1::TaskResult& message) {
  if (const auto* const exited = std::get_if<Exited>(&end)) {
    message.set_end(v1::TaskResult::EXITED);
    write(*exited, message);
  } else if (const auto* const signalled = std::get_if<Signalled>(&end)) {
    message.set_end(v1::TaskResult::SIGNALLED);
    write(*signalled, message);
  } else if (const auto* const failed = std::get_if<Failed>(&end)) {
    message.set_end(end_of(failed->code));
    message.set_error_code(std::string(name_of(failed->code)));
    message.set_error_message(printable_utf8(failed->message, max_message_text_bytes));
    if (failed->program) std::visit([&message](const auto& way) { write(way, message); }, *failed->program);
  }
}

}  // namespace

Result<TaskResult> parse_task_result(ByteView serialised) {
  v1::TaskResult message;
  if (serialised.size() > max_result_bytes ||
      !message.ParseFromArray(serialised.data(), static_cast<int>(serialised.size()))) {
    return violation("task result: not a message of this kind");
  }
  const auto task_id = TaskId::parse(message.task_id());
  if (!task_id) return violation("task result: task_id");
  const auto isolation = parse_isolation(message.isolation());
  if (!isolation) return violation("task result: isolation");
  OUTHAUL_TRY(end, end_of(message));
  OUTHAUL_CHECK(check_numbers(message));
  TaskResult result;
  result.task_id = *task_id;
  result.end = std::move(end);
  if (message.started_at_ns() != 0) result.started_at = WallTime{message.started_at_ns()};
  result.ended_at = {message.ended_at_ns()};
  result.used = {.wall = std::chrono::nanoseconds(message.duration_ns()),
                 .user_cpu = std::chrono::nanoseconds(message.user_cpu_ns()),
                 .system_cpu = std::chrono::nanoseconds(message.system_cpu_ns()),
                 .max_rss_bytes = message.max_rss_bytes()};
  result.out = {message.stdout_bytes(), message.stdout_sha256()};
  result.err = {message.stderr_bytes(), message.stderr_sha256()};
  result.bytes_left_out = message.bytes_left_out();
  result.processes_killed = message.processes_killed();
  result.pipe_holder = message.pipe_holder();
  result.isolation = *isolation;
  result.receipt = message.receipt();
  return result;
}

Bytes serialise_task_result(const TaskResult& result) {
  v1::TaskResult message;
  message.set_task_id(result.task_id.text());
  write_end(result.end, message);
  if (result.started_at) message.set_started_at_ns(result.started_at->nanoseconds);
  message.set_ended_at_ns(result.ended_at.nanoseconds);
  message.set_duration_ns(result.used.wall.count());
  message.set_user_cpu_ns(result.used.user_cpu.count());
  message.set_system_cpu_ns(result.used.system_cpu.count());
  message.set_max_rss_bytes(result.used.max_rss_bytes);
  message.set_stdout_bytes(result.out.bytes);
  message.set_stderr_bytes(result.err.bytes);
  message.set_stdout_sha256(result.out.sha256);
  message.set_stderr_sha256(result.err.sha256);
  message.set_bytes_left_out(result.bytes_left_out);
  message.set_processes_killed(result.processes_killed);
  message.set_pipe_holder(printable_utf8(result.pipe_holder, max_holder_bytes));
  message.set_isolation(std::string(name_of(result.isolation)));
  message.set_receipt(result.receipt);
  return message.SerializeAsString();
}

std::string_view state_of(const TaskEnd& end) {
  if (std::holds_alternative<Exited>(end)) return "exited";
  if (std::holds_alternative<Signalled>(end)) return "signalled";
  switch (end_of(std::get<Failed>(end).code)) {
    case v1::TaskResult::CANCELLED: return "cancelled";
    case v1::TaskResult::TIMED_OUT: return "timed_out";
    case v1::TaskResult::LOST: return "lost";
    default: return "failed";
  }
}

}  // namespace outhaul::wire
