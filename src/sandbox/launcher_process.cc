#include "sandbox/launcher_process.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launcher/descriptor.h"

namespace outhaul::sandbox {
namespace {

using launcher::PacketHeader;
using launcher::PacketKind;
using launcher::SpawnStage;
using launcher::TaskSnapshot;

template <class Request>
Bytes to_bytes(Request request, ByteView tail = {}) {
  request.header.bytes = static_cast<std::uint32_t>(sizeof request + tail.size());
  Bytes packet(reinterpret_cast<const char*>(&request), sizeof request);
  packet.append(tail);
  return packet;
}

Bytes header_only(PacketKind kind, std::uint32_t slot) {
  PacketHeader header{kind, launcher::protocol_version, sizeof header, slot, 0};
  return Bytes(reinterpret_cast<const char*>(&header), sizeof header);
}

ProcessState to_state(launcher::TaskState state) {
  switch (state) {
    case launcher::TaskState::free:
    case launcher::TaskState::starting: return ProcessState::starting;
    case launcher::TaskState::running: return ProcessState::running;
    case launcher::TaskState::exited: return ProcessState::exited;
    case launcher::TaskState::ended: return ProcessState::ended;
    case launcher::TaskState::failed: return ProcessState::failed;
  }
  return ProcessState::starting;
}

const char* name_of(SpawnStage stage) {
  switch (stage) {
    case SpawnStage::directory: return "enter the working directory";
    case SpawnStage::limits: return "set a limit";
    case SpawnStage::execute: return "execute the program";
    case SpawnStage::none:
    case SpawnStage::resources: break;
  }
  return "make a process";
}

ErrorCode code_of(SpawnStage stage, int error) {
  if (stage == SpawnStage::directory) return ErrorCode::directory_unavailable;
  if (stage != SpawnStage::execute) return ErrorCode::spawn_failed;
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::program_not_found;
    case EACCES:
    case EISDIR:
    case ENOEXEC:
    case ELIBBAD:
    case ETXTBSY:
    case EPERM: return ErrorCode::program_not_executable;
    default: return ErrorCode::spawn_failed;
  }
}

Error to_failure(const TaskSnapshot& snapshot) {
  return {code_of(snapshot.spawn_stage, snapshot.spawn_error),
          fmt::format("{}: {}", name_of(snapshot.spawn_stage), std::strerror(snapshot.spawn_error))};
}

ProcessStatus to_status(const TaskSnapshot& snapshot) {
  ProcessStatus status;
  status.state = to_state(snapshot.state);
  if (status.state == ProcessState::failed) status.failure = to_failure(snapshot);
  status.process_id = snapshot.process_id;
  if (WIFEXITED(snapshot.wait_status)) status.exit_code = WEXITSTATUS(snapshot.wait_status);
  if (WIFSIGNALED(snapshot.wait_status)) status.signal = WTERMSIG(snapshot.wait_status);
  status.processes_killed = snapshot.processes_killed;
  status.pipe_holder.assign(snapshot.pipe_holder, strnlen(snapshot.pipe_holder, sizeof snapshot.pipe_holder));
  status.started_at = {snapshot.started_at_ns};
  status.ended_at = {snapshot.ended_at_ns};
  status.duration = std::chrono::nanoseconds(snapshot.duration_ns);
  status.user_cpu = std::chrono::nanoseconds(snapshot.user_cpu_ns);
  status.system_cpu = std::chrono::nanoseconds(snapshot.system_cpu_ns);
  status.max_rss_bytes = snapshot.max_rss_bytes;
  status.stdin_applied = snapshot.stdin_applied;
  status.stdin_closed = snapshot.stdin_closed != 0;
  return status;
}

OutputKind to_kind(launcher::OutputKind kind) {
  return kind == launcher::OutputKind::err ? OutputKind::err : OutputKind::out;
}

std::optional<OutputChunk> to_chunk(const launcher::RingRecord* record) {
  if (record == nullptr) return std::nullopt;
  return OutputChunk{to_kind(record->kind), record->offset, WallTime{record->time_ns},
                     ByteView(launcher::RingReader::bytes(*record), record->length)};
}

}  // namespace

LauncherProcess::LauncherProcess(LauncherPort& port, const Executor& executor, TaskId task,
                                 std::uint32_t slot)
    : port_(port), task_(std::move(task)), slot_(slot), changed_(executor) {}

LauncherProcess::~LauncherProcess() { port_.release(slot_, is_forgotten_); }

std::optional<OutputChunk> LauncherProcess::peek_output() {
  if (!ring_.is_open()) return std::nullopt;
  launcher::RingReader reader(ring_);
  const launcher::RingRecord* record = reader.peek();
  // One that came between the look and the request for a notice is found by looking again.
  if (record == nullptr && !reader.is_damaged() && !reader.ask_for_notice()) record = reader.peek();
  return to_chunk(record);
}

std::optional<OutputChunk> LauncherProcess::peek_output_at(std::size_t index) {
  if (!ring_.is_open()) return std::nullopt;
  return to_chunk(launcher::RingReader(ring_).peek_at(index));
}

void LauncherProcess::consume_output() {
  launcher::RingReader reader(ring_);
  if (reader.consume()) port_.send(header_only(PacketKind::room, slot_));
}

bool LauncherProcess::offer_stdin(std::uint64_t offset, ByteView bytes) {
  if (offer_is_open_ || bytes.empty() || status_.stdin_closed || status_.is_final()) return false;
  offer_is_open_ = true;
  const launcher::StdinRequest request{{PacketKind::stdin_data, launcher::protocol_version, 0, slot_, 0},
                                       offset};
  port_.send(to_bytes(request, bytes.substr(0, launcher::max_stdin_bytes)));
  return true;
}

void LauncherProcess::close_stdin(std::uint64_t offset) {
  const launcher::StdinRequest request{{PacketKind::stdin_end, launcher::protocol_version, 0, slot_, 0},
                                       offset};
  port_.send(to_bytes(request));
}

void LauncherProcess::send_signal(int signal) {
  const launcher::SignalRequest request{
      {PacketKind::signal, launcher::protocol_version, 0, slot_, 0}, signal, 0};
  port_.send(to_bytes(request));
}

void LauncherProcess::end_tree(int signal, Duration grace) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(grace).count();
  const auto bounded = static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 0, UINT32_MAX));
  const launcher::EndRequest request{
      {PacketKind::end_tree, launcher::protocol_version, 0, slot_, 0}, signal, bounded};
  port_.send(to_bytes(request));
}

void LauncherProcess::forget() {
  is_forgotten_ = true;
  port_.send(header_only(PacketKind::forget, slot_));
}

void LauncherProcess::take_snapshot(const TaskSnapshot& snapshot, int ring) {
  const launcher::Descriptor owned(ring);
  if (owned.is_open() && !ring_.is_open()) ring_ = launcher::RingMap::map(ring);
  status_ = to_status(snapshot);
  if (snapshot.stdin_answers != std::exchange(stdin_answers_, snapshot.stdin_answers)) offer_is_open_ = false;
  changed_.set();
}

void LauncherProcess::lose() {
  if (!status_.is_final()) status_.state = ProcessState::lost;
  changed_.set();
}

}  // namespace outhaul::sandbox
