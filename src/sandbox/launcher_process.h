// LauncherProcess: a Process as its latest snapshot and its mapped ring.
#pragma once

#include "launcher/protocol.h"
#include "launcher/ring.h"
#include "sandbox/process_launcher.h"

namespace outhaul::sandbox {

// What a process needs of its client. Outlives the process.
class LauncherPort {
 public:
  virtual ~LauncherPort() = default;
  virtual void send(Bytes packet) = 0;
  // The handle is gone. `forgotten`: so is the record, and the slot may be used again.
  virtual void release(std::uint32_t slot, bool forgotten) = 0;
};

class LauncherProcess final : public Process {
 public:
  LauncherProcess(LauncherPort& port, const Executor& executor, TaskId task, std::uint32_t slot);
  ~LauncherProcess() override;

  const TaskId& task() const override { return task_; }
  const ProcessStatus& status() const override { return status_; }
  Event& changed() override { return changed_; }
  std::optional<OutputChunk> peek_output() override;
  std::optional<OutputChunk> peek_output_at(std::size_t index) override;
  void consume_output() override;
  bool offer_stdin(std::uint64_t offset, ByteView bytes) override;
  void close_stdin(std::uint64_t offset) override;
  void send_signal(int signal) override;
  void end_tree(int signal, Duration grace) override;
  void forget() override;

  // From the client. `ring`: a descriptor that came along, taken over; -1: none.
  void take_snapshot(const launcher::TaskSnapshot& snapshot, int ring);
  // The launcher died: nothing more will come than what the ring holds.
  void lose();

 private:
  LauncherPort& port_;
  TaskId task_;
  std::uint32_t slot_;
  ProcessStatus status_;
  Event changed_;
  launcher::RingMap ring_;
  std::uint32_t stdin_answers_ = 0;  // as the launcher counts them
  bool offer_is_open_ = false;
  bool is_forgotten_ = false;
};

}  // namespace outhaul::sandbox
