// SimOwner: the person beside one simulated machine: its policy, its programs' files, its lock, and the
// answers to what the node asks. It remembers what it was shown, and complains when something else starts. It
// outlives the node processes.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "node/consent/consent_book.h"
#include "policy/policy.h"
#include "testing/memory_owner.h"
#include "testing/seeded_random.h"
#include "tests/sim/stage.h"

namespace outhaul::sim {

class SimOwner {
 public:
  // Programs by their names: one that needs a yes, and one that never may run.
  static constexpr const char* asked_program = "asked-program";
  static constexpr const char* denied_program = "denied-program";

  SimOwner(const Stage& stage, std::string name, std::uint64_t seed);

  const policy::Policy& policy() const { return policy_; }
  const testing::MemoryFiles& files() const { return files_; }
  const testing::MemoryLock& lock_port() const { return lock_; }

  void lock() { lock_.notice = node::LockNotice{.reason = "a test", .since = stage_.world.wall_now()}; }
  void unlock() { lock_.notice.reset(); }
  bool is_locked() const { return lock_.notice.has_value(); }
  // Somebody puts another file where the program that was shown stands, or writes into it.
  void change_program();

  // What the owner says to a question that is open; empty: nothing yet.
  std::optional<node::Answer> answer(const node::Question& question);
  // The machine executes this task's program now.
  void check_start(const TaskId& task);

 private:
  std::string version() const;

  Stage stage_;
  std::string name_;
  testing::SeededRandom random_;
  policy::Policy policy_;
  testing::MemoryFiles files_;
  testing::MemoryLock lock_;
  std::uint64_t changes_ = 0;
  std::map<TaskId, std::string> shown_;  // the version of the program when its question was first seen
  std::set<TaskId> approved_;
};

// What one machine tells the book, and its owner.
class MachineBook final : public testing::MachineWatcher {
 public:
  MachineBook(ProgramBook& book, NodeId node, SimOwner& owner)
      : book_(book), node_(std::move(node)), owner_(owner) {}
  void on_start(const TaskId& task) override {
    owner_.check_start(task);
    book_.note_start(task, node_);
  }
  void on_output(const TaskId& task, sandbox::OutputKind kind, ByteView bytes) override {
    book_.note_output(task, kind, bytes);
  }
  void on_end(const TaskId& task, int code, int signal) override { book_.note_end(task, code, signal); }

 private:
  ProgramBook& book_;
  NodeId node_;
  SimOwner& owner_;
};

}  // namespace outhaul::sim
