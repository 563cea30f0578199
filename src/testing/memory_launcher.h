// MemoryLauncher: the fake ProcessLauncher of one node's life. Its processes live in a MemoryMachine, which
// the test owns and which outlives a crashed node.
//   runs on  the strand of its executor
#pragma once

#include <map>
#include <memory>

#include "base/async_clock.h"
#include "base/task_group.h"
#include "testing/memory_machine.h"

namespace outhaul::testing {

class MemoryLauncher final : public sandbox::ProcessLauncher {
 public:
  // `clock` and `machine` outlive it.
  MemoryLauncher(Executor executor, AsyncClock& clock, MemoryMachine& machine);
  ~MemoryLauncher() override;

  Task<Result<std::vector<std::unique_ptr<sandbox::Process>>>> attach() override;
  Result<std::unique_ptr<sandbox::Process>> start(const sandbox::ProcessSpec& spec) override;
  std::string_view containment() const override { return "memory"; }
  Task<void> close();

  // The launcher is killed: its processes are `lost`, their unread output stays readable to this node.
  void crash();
  // From now on start() and attach() answer `unavailable`; false ends that.
  void set_away(bool away) { is_away_ = away; }

 private:
  class Handle;
  friend class Handle;

  Task<void> tick();
  // Moves the machine on and tells the handles whose process changed.
  void look();

  AsyncClock& clock_;
  MemoryMachine& machine_;
  std::map<TaskId, Handle*> handles_;
  bool is_away_ = false;
  Event rescheduled_;
  TaskGroup group_;
};

}  // namespace outhaul::testing
