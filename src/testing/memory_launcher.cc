#include "testing/memory_launcher.h"

#include <algorithm>

#include "base/within.h"

namespace outhaul::testing {

using sandbox::OutputChunk;
using sandbox::Process;
using sandbox::ProcessSpec;
using sandbox::ProcessState;
using sandbox::ProcessStatus;

class MemoryLauncher::Handle final : public Process {
 public:
  Handle(MemoryLauncher& launcher, TaskId task, MemoryProcess state)
      : launcher_(launcher),
        task_(std::move(task)),
        kept_(std::move(state)),
        changed_(launcher.group_.executor()) {}
  ~Handle() override {
    const auto found = launcher_.handles_.find(task_);
    if (found != launcher_.handles_.end() && found->second == this) launcher_.handles_.erase(found);
  }

  const TaskId& task() const override { return task_; }
  const ProcessStatus& status() const override { return state().status; }
  Event& changed() override { return changed_; }

  std::optional<OutputChunk> peek_output() override { return peek_output_at(0); }
  std::optional<OutputChunk> peek_output_at(std::size_t index) override {
    const auto& output = state().output;
    if (index >= output.size()) return std::nullopt;
    const auto& chunk = output[index];
    return OutputChunk{chunk.kind, chunk.offset, chunk.time, chunk.bytes};
  }
  void consume_output() override {
    MemoryProcess& process = state();
    process.ring_bytes -= process.output.front().bytes.size();
    process.output.pop_front();
    launcher_.rescheduled_.set();
  }

  bool offer_stdin(std::uint64_t offset, ByteView bytes) override {
    MemoryProcess& process = state();
    auto& applied = process.status.stdin_applied;
    if (process.status.stdin_closed || process.status.is_final() || bytes.empty() || offset > applied)
      return false;
    const auto skipped = std::min<std::uint64_t>(applied - offset, bytes.size());
    const auto room = MemoryMachine::pipe_capacity - process.input.size();
    const auto taken = std::min<std::size_t>(bytes.size() - skipped, room);
    process.input.append(bytes.substr(skipped, taken));
    applied += taken;
    settle_input(process);
    return true;
  }
  void close_stdin(std::uint64_t offset) override {
    state().input_end = offset;
    settle_input(state());
  }

  void send_signal(int signal) override {
    launcher_.machine_.signal(state(), signal, launcher_.clock_.now(), launcher_.clock_.wall_now());
    launcher_.rescheduled_.set();
  }
  void end_tree(int signal, Duration grace) override {
    MemoryProcess& process = state();
    if (process.status.is_final()) return;
    process.status.processes_killed = 1;
    const auto kill_at = launcher_.clock_.now() + grace;
    process.kill_at = process.kill_at ? std::min(*process.kill_at, kill_at) : kill_at;
    send_signal(signal);
  }
  void forget() override {
    if (!is_detached_) launcher_.machine_.forget(task_);
    detach();
  }

  // The machine no longer has it: what it was when it went stays readable.
  void detach() { is_detached_ = true; }
  void lose() {
    kept_ = state();
    detach();
    if (!kept_.status.is_final()) kept_.status.state = ProcessState::lost;
    changed_.set();
  }
  void tell_changes() {
    if (is_detached_ || std::exchange(told_version_, state().version) == state().version) return;
    changed_.set();
  }

 private:
  MemoryProcess& state() {
    MemoryProcess* process = is_detached_ ? nullptr : launcher_.machine_.find(task_);
    return process != nullptr ? *process : kept_;
  }
  const MemoryProcess& state() const { return const_cast<Handle*>(this)->state(); }
  void settle_input(MemoryProcess& process) {
    if (process.status.stdin_applied >= process.input_end) process.status.stdin_closed = true;
    ++process.version;
    launcher_.rescheduled_.set();
  }

  MemoryLauncher& launcher_;
  TaskId task_;
  MemoryProcess kept_;  // read only once detached
  Event changed_;
  bool is_detached_ = false;
  std::uint64_t told_version_ = UINT64_MAX;
};

MemoryLauncher::MemoryLauncher(Executor executor, AsyncClock& clock, MemoryMachine& machine)
    : clock_(clock), machine_(machine), rescheduled_(executor), group_(std::move(executor)) {}

MemoryLauncher::~MemoryLauncher() = default;

Task<Result<std::vector<std::unique_ptr<Process>>>> MemoryLauncher::attach() {
  if (is_away_) co_return fail(ErrorCode::unavailable, "attach to the launcher: it does not answer");
  machine_.advance(clock_.now(), clock_.wall_now());
  std::vector<std::unique_ptr<Process>> adopted;
  for (const auto& [task, process] : machine_.processes()) {
    auto handle = std::make_unique<Handle>(*this, task, process);
    handles_[task] = handle.get();
    handle->changed().set();
    adopted.push_back(std::move(handle));
  }
  group_.spawn([this] { return tick(); });
  co_return adopted;
}

Result<std::unique_ptr<Process>> MemoryLauncher::start(const ProcessSpec& spec) {
  if (is_away_) return fail(ErrorCode::unavailable, "start: the launcher is away");
  if (spec.argv.empty()) return fail(ErrorCode::invalid, "spawn: no argument");
  std::size_t bytes = spec.directory.size();
  for (const auto& argument : spec.argv) bytes += argument.size() + 1;
  for (const auto& variable : spec.environment) bytes += variable.size() + 1;
  if (bytes > max_spec_bytes)
    return fail(ErrorCode::too_large, "spawn: arguments and environment are over their limit");
  if (!machine_.start(spec, clock_.now(), clock_.wall_now())) {
    MemoryProcess refused;
    refused.status.state = ProcessState::failed;
    refused.status.failure = Error(ErrorCode::spawn_failed, "make a process: File exists");
    auto handle = std::make_unique<Handle>(*this, spec.task, std::move(refused));
    handle->detach();
    handle->changed().set();
    return handle;
  }
  auto handle = std::make_unique<Handle>(*this, spec.task, MemoryProcess());
  handles_[spec.task] = handle.get();
  rescheduled_.set();
  return handle;
}

Task<void> MemoryLauncher::close() {
  group_.cancel();
  co_await group_.join();
}

void MemoryLauncher::crash() {
  for (auto& [task, handle] : handles_) handle->lose();
  machine_.crash();
}

Task<void> MemoryLauncher::tick() {
  for (;;) {
    look();
    rescheduled_.reset();
    const auto next = machine_.next_step();
    if (!next) {
      co_await rescheduled_.wait();
    } else {
      co_await within(clock_, *next, rescheduled_.wait());
    }
  }
}

void MemoryLauncher::look() {
  machine_.advance(clock_.now(), clock_.wall_now());
  for (auto& [task, handle] : handles_) handle->tell_changes();
}

}  // namespace outhaul::testing
