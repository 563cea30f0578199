// MemoryMachine: what a real launcher keeps while nodes come and go: running programs, their unread output,
// their ends. It outlives the MemoryLauncher clients of a node that crashes and restarts. It does nothing
// by itself; whoever holds it moves it on with advance().
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "sandbox/process_launcher.h"
#include "testing/memory_program.h"

namespace outhaul::testing {

struct MemoryChunk {
  sandbox::OutputKind kind;
  std::uint64_t offset;
  WallTime time;
  Bytes bytes;
};

struct MemoryProcess {
  TaskId task;
  MemoryProgram program;
  std::size_t step = 0;            // the next one
  std::uint64_t done_of_step = 0;  // bytes of a `fill` that were printed
  std::optional<TimePoint> waits_until;
  sandbox::ProcessStatus status;
  TimePoint started;
  std::deque<MemoryChunk> output;  // not consumed
  std::uint64_t output_bytes = 0;  // ever
  std::size_t ring_bytes = 0;      // in `output`
  Bytes input;                     // in the pipe
  std::uint64_t input_end = UINT64_MAX;
  bool ignores_term = false;
  std::optional<TimePoint> kill_at;
  std::uint64_t version = 0;  // rises with each change a client may care for
};

// Keeps a test's own books of what programs really did. Called while the machine runs them.
class MachineWatcher {
 public:
  virtual ~MachineWatcher() = default;
  virtual void on_start(const TaskId& task) = 0;
  virtual void on_output(const TaskId& task, sandbox::OutputKind kind, ByteView bytes) = 0;
  virtual void on_end(const TaskId& task, int code, int signal) = 0;
};

class MemoryMachine {
 public:
  static constexpr std::size_t ring_capacity = 256 * 1024;
  static constexpr std::size_t chunk_bytes = 16 * 1024;
  static constexpr std::size_t pipe_capacity = 64 * 1024;

  // `watcher` outlives the machine; null: nobody watches.
  void watch(MachineWatcher* watcher) { watcher_ = watcher; }

  // argv {"/bin/sh", "-c", line} runs `words` (see read_program). argv {"program", words...}, or a name
  // that ends in "-program", needs no lesson; anything else fails to execute, as a missing file does.
  void teach(std::string line, std::vector<std::string> words);

  // False: a process of that task is known, and nothing starts.
  bool start(const sandbox::ProcessSpec& spec, TimePoint now, WallTime wall);
  // Runs every program as far as time, room and input allow.
  void advance(TimePoint now, WallTime wall);
  // When advance() has something to do next; empty: never.
  std::optional<TimePoint> next_step() const;
  void signal(MemoryProcess& process, int number, TimePoint now, WallTime wall);
  void forget(const TaskId& task) { processes_.erase(task); }
  // As SIGKILL to the launcher: every process and record is gone.
  void crash() { processes_.clear(); }

  MemoryProcess* find(const TaskId& task);
  std::map<TaskId, MemoryProcess>& processes() { return processes_; }
  // How often each task was executed, ever; for the invariant "at most once".
  const std::map<TaskId, int>& starts() const { return starts_; }

 private:
  std::optional<MemoryProgram> find_program(const std::vector<std::string>& argv) const;
  void run(MemoryProcess& process, TimePoint now, WallTime wall);
  // False: it must wait.
  bool run_step(MemoryProcess& process, const MemoryStep& step, TimePoint now, WallTime wall);
  bool fill(MemoryProcess& process, std::uint64_t amount, WallTime wall);
  bool copy_input(MemoryProcess& process, WallTime wall);
  bool print(MemoryProcess& process, sandbox::OutputKind kind, ByteView bytes, WallTime wall);
  void end(MemoryProcess& process, int code, int signal, TimePoint now, WallTime wall);

  MachineWatcher* watcher_ = nullptr;
  std::map<std::string, std::vector<std::string>> lessons_;
  std::map<TaskId, MemoryProcess> processes_;
  std::map<TaskId, int> starts_;
};

}  // namespace outhaul::testing
