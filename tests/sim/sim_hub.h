// SimHub: the machine of the hub. Its database and disk outlive the processes that it boots and loses.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "hub/hub.h"
#include "store/memory_database.h"
#include "store/memory_tables.h"
#include "stream/memory_disk.h"
#include "tests/sim/stage.h"

namespace outhaul::sim {

// One life of the hub, as its clients have it: valid until the life ends, which ends their coroutines too.
struct HubLife {
  hub::Hub& hub;
  AsyncClock& clock;
  TaskGroup& group;
};

class SimHub {
 public:
  // `on_up`: called in each life, in the hub's process, as soon as it serves.
  SimHub(const Stage& stage, std::uint64_t seed, std::function<void(const HubLife&)> on_up);
  ~SimHub();

  // All calls come from world events, in no process's context.
  void boot();
  void crash(Death death);
  // Says goodbye, ends in order, and boots again.
  void restart_in_order();

  // The rows as they are now; the files follow a moment later, as a backup beside a hub that serves copies
  // them.
  void save_rows() { saved_storage_.tables().copy_rows(storage_.tables()); }
  void save_files() { saved_image_ = image_.copy(); }
  // The machine is gone. Another one has what was saved, and boots.
  void restore();
  const store::MemoryTables& saved_tables() const { return saved_storage_.tables(); }

  bool is_running() const { return life_ != nullptr; }
  // Serves. Null otherwise.
  hub::Hub* serving() const;
  // Calls `action` inside the life that serves.
  void with_life(const std::function<void(const HubLife&)>& action);
  // Rises with each life that serves.
  std::uint64_t serving_lives() const { return serving_lives_; }
  // Unchanged means that nothing ran in the hub since.
  std::uint64_t activity() const;
  WallTime wall_now() const { return stage_.world.wall_now() + skew_; }
  void set_skew(std::chrono::nanoseconds skew);

  // Verifies its audit log as it stands on the disk.
  void check_audit();
  AuditedActions audited_actions() { return stage_.audit.actions_of(image_); }
  store::MemoryTables& tables() { return storage_.tables(); }
  const store::MemoryTables& tables() const { return storage_.tables(); }
  store::MemoryDatabase* database() const;
  // Of the present and all later lives.
  stream::MemoryDiskFaults& disk_faults() { return disk_faults_; }
  void apply_faults();

 private:
  struct Life;
  Task<void> live(Life& life);
  Task<void> end_in_order(Life& life);
  void boot_again();
  void bury();

  Stage stage_;
  testing::SeededRandom random_;
  std::function<void(const HubLife&)> on_up_;
  store::MemoryStorage storage_;
  stream::MemoryDiskImage image_;
  store::MemoryStorage saved_storage_;
  stream::MemoryDiskImage saved_image_;
  stream::MemoryDiskFaults disk_faults_;
  std::chrono::nanoseconds skew_{};
  std::unique_ptr<Life> life_;
  std::uint64_t serving_lives_ = 0;
};

}  // namespace outhaul::sim
