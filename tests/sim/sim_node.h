// SimNode: one machine with a node on it. Its disk and its launcher outlive the node processes that it boots
// and loses; without power the programs die too.
#pragma once

#include <memory>
#include <optional>

#include "node/node.h"
#include "stream/memory_disk.h"
#include "testing/memory_launcher.h"
#include "tests/sim/sim_owner.h"
#include "tests/sim/stage.h"

namespace outhaul::sim {

class SimNode {
 public:
  struct Config {
    std::string name;  // of its path in the network
    const SimIdentity* identity = nullptr;
    std::uint64_t seed = 0;
    std::uint32_t slots = 8;
  };
  SimNode(const Stage& stage, Config config);
  ~SimNode();

  // All calls come from world events, in no process's context.
  void boot();
  void crash(Death death);
  void crash_launcher();
  // No new task; what runs goes on under the launcher; then another process boots.
  void restart_in_order(Duration drain_limit);
  // Its owner locks it, also while no node runs; what runs is ended at once.
  void lock();
  void unlock();
  void change_program() { owner_.change_program(); }
  // Its disk as it is now, without power having been lost: a backup, or a stolen copy.
  void copy_disk_of(const SimNode& other);

  const std::string& name() const { return config_.name; }
  const SimIdentity& identity() const { return *config_.identity; }
  bool is_running() const { return life_ != nullptr; }
  bool is_attached() const;
  std::uint32_t running_tasks() const;
  std::uint64_t lives() const { return lives_; }
  void set_skew(std::chrono::nanoseconds skew);
  // True when these bytes would survive a loss of power now.
  bool has_durably(ByteView bytes) const;

  // Verifies its audit log as it stands on the disk.
  void check_audit();
  AuditedActions audited_actions() { return stage_.audit.actions_of(image_); }

  // Of the present and all later lives; apply_faults() after a change.
  stream::MemoryDiskFaults& disk_faults() { return disk_faults_; }
  void apply_faults();
  void fill_disk() { image_.capacity = image_.used_bytes() + 2048; }
  void empty_disk() { image_.capacity = std::uint64_t{1} << 40U; }

 private:
  struct Life;
  Task<void> live(Life& life);
  Task<void> end_in_order(Life& life, Duration drain_limit);
  void boot_again(Duration after);
  // Programs go on although no node looks at them.
  void run_orphans();
  // The owner looks at what is asked, now and then.
  Task<void> attend_questions(Life& life);

  Stage stage_;
  Config config_;
  testing::SeededRandom random_;
  stream::MemoryDiskImage image_;
  stream::MemoryDiskFaults disk_faults_;
  SimOwner owner_;
  MachineBook book_;
  testing::MemoryMachine machine_;
  SimTlsFiles tls_;
  std::chrono::nanoseconds skew_{};
  std::unique_ptr<Life> life_;
  std::uint64_t lives_ = 0;
  bool is_copy_ = false;
};

}  // namespace outhaul::sim
