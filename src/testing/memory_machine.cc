#include "testing/memory_machine.h"

#include <algorithm>
#include <csignal>

namespace outhaul::testing {

using sandbox::OutputKind;
using sandbox::ProcessState;
using Kind = MemoryStep::Kind;

void MemoryMachine::teach(std::string line, std::vector<std::string> words) {
  lessons_[std::move(line)] = std::move(words);
}

std::optional<MemoryProgram> MemoryMachine::find_program(const std::vector<std::string>& argv) const {
  std::vector<std::string> words(argv.begin() + 1, argv.end());
  if (argv[0] == "/bin/sh" && argv.size() == 3) {
    const auto lesson = lessons_.find(argv[2]);
    if (lesson == lessons_.end()) return std::nullopt;
    words = lesson->second;
  } else if (argv[0] != "program" && !argv[0].ends_with("-program")) {
    return std::nullopt;
  }
  auto program = read_program(words);
  if (!program) return std::nullopt;
  return std::move(*program);
}

bool MemoryMachine::start(const sandbox::ProcessSpec& spec, TimePoint now, WallTime wall) {
  const auto [place, is_new] = processes_.try_emplace(spec.task);
  if (!is_new) return false;
  MemoryProcess& process = place->second;
  process.task = spec.task;
  process.status.stdin_closed = !spec.has_stdin;
  if (!spec.has_stdin) process.input_end = 0;
  process.started = now;
  process.status.started_at = wall;
  auto program = find_program(spec.argv);
  if (!program) {
    process.status.state = ProcessState::failed;
    process.status.failure =
        Error(ErrorCode::program_not_found, "execute the program: No such file or directory");
    return true;
  }
  ++starts_[spec.task];
  if (watcher_ != nullptr) watcher_->on_start(spec.task);
  process.program = std::move(*program);
  process.status.state = ProcessState::running;
  process.status.process_id = static_cast<int>(1000 + starts_.size());
  run(process, now, wall);
  return true;
}

void MemoryMachine::advance(TimePoint now, WallTime wall) {
  for (auto& [task, process] : processes_) {
    run(process, now, wall);
    if (process.kill_at && now >= *process.kill_at) signal(process, SIGKILL, now, wall);
  }
}

std::optional<TimePoint> MemoryMachine::next_step() const {
  std::optional<TimePoint> first;
  const auto consider = [&first](const std::optional<TimePoint>& when) {
    if (when && (!first || *when < *first)) first = when;
  };
  for (const auto& [task, process] : processes_) {
    if (process.status.is_final()) continue;
    consider(process.waits_until);
    consider(process.kill_at);
  }
  return first;
}

void MemoryMachine::signal(MemoryProcess& process, int number, TimePoint now, WallTime wall) {
  if (process.status.is_final() || (number == SIGTERM && process.ignores_term)) return;
  end(process, 0, number, now, wall);
}

MemoryProcess* MemoryMachine::find(const TaskId& task) {
  const auto found = processes_.find(task);
  return found == processes_.end() ? nullptr : &found->second;
}

void MemoryMachine::run(MemoryProcess& process, TimePoint now, WallTime wall) {
  while (process.status.state == ProcessState::running) {
    if (process.step == process.program.size()) return end(process, 0, 0, now, wall);
    if (!run_step(process, process.program[process.step], now, wall)) return;
    ++process.step;
    process.done_of_step = 0;
    process.waits_until.reset();
  }
}

bool MemoryMachine::run_step(MemoryProcess& process, const MemoryStep& step, TimePoint now, WallTime wall) {
  switch (step.kind) {
    case Kind::out: return print(process, OutputKind::out, step.text, wall);
    case Kind::err: return print(process, OutputKind::err, step.text, wall);
    case Kind::fill: return fill(process, step.amount, wall);
    case Kind::cat: return copy_input(process, wall);
    case Kind::ignore_term: process.ignores_term = true; return true;
    case Kind::wait:
      if (!process.waits_until) process.waits_until = now + step.span;
      return now >= *process.waits_until;
    case Kind::signal: end(process, 0, static_cast<int>(step.amount), now, wall); return true;
    case Kind::exit: end(process, static_cast<int>(step.amount), 0, now, wall); return true;
  }
  return true;
}

bool MemoryMachine::fill(MemoryProcess& process, std::uint64_t amount, WallTime wall) {
  while (process.done_of_step < amount) {
    Bytes bytes(std::min<std::uint64_t>(amount - process.done_of_step, chunk_bytes), '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = fill_byte(process.done_of_step + i);
    if (!print(process, OutputKind::out, bytes, wall)) return false;
    process.done_of_step += bytes.size();
  }
  return true;
}

bool MemoryMachine::copy_input(MemoryProcess& process, WallTime wall) {
  while (!process.input.empty()) {
    const auto bytes = process.input.substr(0, chunk_bytes);
    if (!print(process, OutputKind::out, bytes, wall)) return false;
    process.input.erase(0, bytes.size());
    ++process.version;
  }
  return process.status.stdin_applied >= process.input_end;
}

// False when the ring is full: the program blocks in its write.
bool MemoryMachine::print(MemoryProcess& process, OutputKind kind, ByteView bytes, WallTime wall) {
  if (bytes.empty()) return true;
  if (process.ring_bytes + bytes.size() > ring_capacity) return false;
  process.output.push_back({kind, process.output_bytes, wall, Bytes(bytes)});
  process.output_bytes += bytes.size();
  process.ring_bytes += bytes.size();
  ++process.version;
  if (watcher_ != nullptr) watcher_->on_output(process.task, kind, bytes);
  return true;
}

void MemoryMachine::end(MemoryProcess& process, int code, int signal, TimePoint now, WallTime wall) {
  auto& status = process.status;
  status.state = ProcessState::ended;
  status.exit_code = code;
  status.signal = signal;
  status.ended_at = wall;
  status.duration = now - process.started;
  status.stdin_closed = true;
  ++process.version;
  if (watcher_ != nullptr) watcher_->on_end(process.task, code, signal);
}

}  // namespace outhaul::testing
