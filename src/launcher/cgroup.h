// CgroupPool: one cgroup (version 2) a task, so that the kernel itself knows its tree. Only the hierarchy
// is used and no controller, so it works beside version 1 and inside a delegated unit.
#pragma once

#include <cstddef>

#include "launcher/descriptor.h"
#include "launcher/process_tree.h"
#include "launcher/protocol.h"

namespace outhaul::launcher {

class Cgroup {
 public:
  Cgroup() = default;
  // `name` below `base`, made when it is missing. Not is_open() when it cannot be had.
  static Cgroup make(int base, const char* name);

  bool is_open() const { return processes_.is_open(); }
  int directory() const { return directory_.number(); }
  bool is_empty() const;
  void list(ProcessList& list) const;
  // SIGKILL to all of it at once; nothing can fork its way out. Nothing can be born in it afterwards:
  // Linux 6.14 and later end a program born (CLONE_INTO_CGROUP) in a cgroup that was ever killed.
  bool kill();
  bool was_killed() const { return was_killed_; }
  const char* name() const { return name_; }

 private:
  char name_[24] = {};
  bool was_killed_ = false;
  Descriptor directory_;
  Descriptor processes_;  // cgroup.procs
};

class CgroupPool {
 public:
  // Finds our own cgroup and makes `outhaul-<tag>` in it; ends and removes what an earlier launcher of the
  // same tag left there. False when a probe shows that programs cannot be born in it or ended by it.
  bool open(const char* tag);
  bool is_open() const { return base_.is_open(); }
  // An empty one. Not is_open() when the system refuses another.
  Cgroup take();
  // For the next task; removed when it was killed. One that is not empty is left alone.
  void give_back(Cgroup cgroup);
  // Removes every cgroup that is empty; for the launcher's own end.
  void close();

 private:
  void sweep();
  bool probe();

  char path_[512] = {};
  Descriptor base_;
  unsigned made_ = 0;
  std::size_t spare_count_ = 0;
  Cgroup spares_[64];
};

}  // namespace outhaul::launcher
