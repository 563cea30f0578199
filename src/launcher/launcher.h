// Launcher: the loop of outhaul-launcher. One thread, no heap, no wait but epoll's.
#pragma once

#include <cstdint>

#include "launcher/client.h"
#include "launcher/managed_task.h"

namespace outhaul::launcher {

// All tasks by slot. A slot is built when it is taken, so unused ones cost no memory.
class TaskTable {
 public:
  TaskTable() = default;
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;
  ~TaskTable();

  // Null for a free slot.
  ManagedTask* find(std::uint32_t slot);
  ManagedTask* find_task(const char* task_id);
  ManagedTask& make(std::uint32_t slot, Surroundings& surroundings);
  void drop(std::uint32_t slot);
  bool is_empty() const { return count_ == 0; }

  template <class Visit>
  void for_each(Visit visit) {
    for (std::uint32_t slot = 0; slot < end_; ++slot) {
      if (ManagedTask* task = find(slot)) visit(*task);
    }
  }

 private:
  bool used_[max_tasks] = {};
  alignas(ManagedTask) char places_[max_tasks][sizeof(ManagedTask)];
  std::uint32_t end_ = 0;  // above the highest slot in use
  std::uint32_t count_ = 0;
};

class Launcher {
 public:
  // Serves on `listener` (a bound, listening SOCK_SEQPACKET socket) until it has neither a task nor a
  // client, having had one. `tag` names our cgroups. `use_cgroups` false: supervisors in any case.
  // Gives the program's exit code.
  int run(int listener, const char* tag, bool use_cgroups);

 private:
  bool prepare(const char* tag, bool use_cgroups);
  void watch(int descriptor, EventSource source, std::uint32_t events);
  void serve_event(std::uint64_t key);
  void accept_client();
  void serve_client();
  void serve_packet(const PacketHeader& packet);
  void serve_task_packet(ManagedTask& task, const PacketHeader& packet);
  void spawn(const PacketHeader& packet);
  void reap();
  int wait_ms();
  void run_deadlines();
  void flush();
  bool send_snapshot(ManagedTask& task);
  void want_to_send(bool wanted);

  Surroundings around_;
  CgroupPool cgroups_;
  TaskTable tasks_;
  Client client_;
  int listener_ = -1;
  int signals_ = -1;
  bool had_client_ = false;
  bool must_list_ = false;      // `listed` is owed to the client
  bool waits_to_send_ = false;  // the client's socket was full
};

}  // namespace outhaul::launcher
