// ProgramBook: what programs really did, as their machines saw it. The truth against which everything that
// hub and nodes say is compared.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "testing/memory_machine.h"
#include "testing/sim_world.h"
#include "tests/sim/sim_trace.h"
#include "tests/sim/verdict.h"

namespace outhaul::sim {

// A run of bytes of one kind: from `from` to the next run.
struct OutputRun {
  std::size_t from = 0;
  sandbox::OutputKind kind = sandbox::OutputKind::out;
};

struct ProgramEnd {
  int code = 0;
  int signal = 0;
};

struct Program {
  Bytes written;  // both kinds, in order
  std::vector<OutputRun> runs;
  TimePoint started_at;
  std::optional<ProgramEnd> end;
  TimePoint ended_at;
  bool is_echo = false;        // there is no program, and nobody knows whether it was said
  bool was_destroyed = false;  // its machine or its launcher died under it

  // The kind of the byte at `offset` and how many of that kind follow without a break.
  std::pair<sandbox::OutputKind, std::size_t> run_at(std::size_t offset) const;
};

class ProgramBook {
 public:
  ProgramBook(const testing::SimWorld& world, SimTrace& trace, Verdict& verdict)
      : world_(world), trace_(trace), verdict_(verdict) {}

  // A task that must never start, and why.
  void forbid(const TaskId& task, std::string why) { forbidden_.emplace(task, std::move(why)); }
  // The hub has sent this task, to this node. Nothing else may start, nor anywhere else.
  void expect(const TaskId& task, const NodeId& node) { expected_[task].insert(node); }
  // The hub may lose this node, and with it what was sent there.
  void note_removal(const NodeId& node) { removed_.insert(node); }
  bool may_be_removed(const TaskId& task) const;
  // The hub may be restored from a backup. What nodes had dropped because it had acknowledged it is gone
  // then.
  void note_restore() { was_restored_ = true; }
  bool may_lack_acknowledged() const { return was_restored_; }
  // As the signed task names it: argv[0].
  void note_name(const TaskId& task, const std::string& name) { names_[task] = name; }
  const std::string& name_of(const TaskId& task) { return names_[task]; }
  // The machine is about to lose every program that runs on it.
  void note_destruction(testing::MemoryMachine& machine);

  // An echo has no program; this is what it says.
  void add_echo(const TaskId& task, const std::string& text);

  // Null: it never started.
  const Program* find(const TaskId& task) const;
  const std::map<TaskId, Program>& programs() const { return programs_; }

  void note_start(const TaskId& task, const NodeId& node);
  void note_output(const TaskId& task, sandbox::OutputKind kind, ByteView bytes);
  void note_end(const TaskId& task, int code, int signal);
  // Told of every start.
  std::function<void(const NodeId&)> on_start;

 private:
  const testing::SimWorld& world_;
  SimTrace& trace_;
  Verdict& verdict_;
  std::map<TaskId, Program> programs_;
  std::map<TaskId, std::string> forbidden_;
  std::map<TaskId, std::string> names_;
  std::map<TaskId, std::set<NodeId>> expected_;
  std::set<NodeId> removed_;
  bool was_restored_ = false;
};

}  // namespace outhaul::sim
