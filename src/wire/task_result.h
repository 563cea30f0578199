// TaskResult: how a task ended; the payload of the last record of its output stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "wire/task_spec.h"

namespace outhaul::wire {

struct Exited {
  int code = 0;  // 0..255
  bool operator==(const Exited&) const = default;
};
struct Signalled {
  int signal = 0;  // 1..64
  bool operator==(const Signalled&) const = default;
};
// How a program went by itself.
using ProgramEnd = std::variant<Exited, Signalled>;
// It never ran, or Outhaul ended it: spawn_failed, task_cancelled, task_timed_out, task_lost, ...
struct Failed {
  ErrorCode code = ErrorCode::internal;
  std::string message{};
  // What the program made of being ended; none: it never ran, or nobody knows.
  std::optional<ProgramEnd> program{};
  bool operator==(const Failed&) const = default;
};
using TaskEnd = std::variant<Exited, Signalled, Failed>;

struct StreamTotals {
  std::uint64_t bytes = 0;
  Bytes sha256;  // 32 bytes over what was produced; empty when it is not known
  bool operator==(const StreamTotals&) const = default;
};

struct ResourceUse {
  std::chrono::nanoseconds wall{};  // monotonic
  std::chrono::nanoseconds user_cpu{};
  std::chrono::nanoseconds system_cpu{};
  std::int64_t max_rss_bytes = 0;
  bool operator==(const ResourceUse&) const = default;
};

struct TaskResult {
  TaskId task_id;
  TaskEnd end = Failed{};
  std::optional<WallTime> started_at;  // none: it never started
  WallTime ended_at;
  ResourceUse used;
  StreamTotals out;
  StreamTotals err;
  std::uint64_t bytes_left_out = 0;    // by the output cap
  std::uint32_t processes_killed = 0;  // by Outhaul, after the exit, a cancel or a timeout
  std::string pipe_holder;             // "name[pid]" that still held a pipe after the exit
  IsolationLevel isolation = IsolationLevel::trusted;
  Bytes receipt;  // audit/receipt.h; empty: the node gave none
  bool operator==(const TaskResult&) const = default;
};

inline constexpr std::size_t max_result_bytes = 16 * 1024;
inline constexpr std::size_t max_receipt_bytes = 8U << 10U;

// Fails with `protocol_violation`; the message names the field and never repeats a value.
Result<TaskResult> parse_task_result(ByteView serialised);
// Messages over 4 KiB are cut.
Bytes serialise_task_result(const TaskResult& result);

// "exited", "signalled", "failed", "cancelled", "timed_out" or "lost": the word for tables and JSON.
std::string_view state_of(const TaskEnd& end);

}  // namespace outhaul::wire
