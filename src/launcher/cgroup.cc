#include "launcher/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "launcher/spawn.h"

namespace outhaul::launcher {
namespace {

constexpr std::size_t file_bytes = 32 * 1024;

// Of a file of /proc, up to `size` - 1 bytes, NUL-ended.
bool read_file(const char* path, char* text, std::size_t size) {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return false;
  std::size_t filled = 0;
  for (ssize_t got = 0;
       filled + 1 < size && (got = read(file.number(), text + filled, size - 1 - filled)) > 0;) {
    filled += static_cast<std::size_t>(got);
  }
  text[filled] = '\0';
  return filled > 0;
}

// The mount point of the version 2 hierarchy: field 5 of the line whose type after " - " is cgroup2.
bool find_mount(char* path, std::size_t size) {
  static char text[file_bytes];
  if (!read_file("/proc/self/mountinfo", text, sizeof text)) return false;
  char* rest = nullptr;
  for (char* line = strtok_r(text, "\n", &rest); line != nullptr; line = strtok_r(nullptr, "\n", &rest)) {
    const char* type = strstr(line, " - ");
    if (type == nullptr || strncmp(type, " - cgroup2 ", 11) != 0) continue;
    const char* field = line;
    for (int skipped = 0; skipped < 4 && field != nullptr; ++skipped) {
      field = strchr(field, ' ');
      if (field != nullptr) ++field;
    }
    const char* end = field != nullptr ? strchr(field, ' ') : nullptr;
    if (end == nullptr) return false;
    return snprintf(path, size, "%.*s", static_cast<int>(end - field), field) < static_cast<int>(size);
  }
  return false;
}

// Our own place in it: the line "0::<path>".
bool find_own(char* path, std::size_t size) {
  static char text[file_bytes];
  if (!read_file("/proc/self/cgroup", text, sizeof text)) return false;
  const char* line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
  if (line == nullptr) return false;
  line = strchr(line, '/');
  if (line == nullptr) return false;
  const std::size_t length = strcspn(line, "\n");
  return snprintf(path, size, "%.*s", static_cast<int>(length), line) < static_cast<int>(size);
}

bool find_base(const char* tag, char* path, std::size_t size) {
  char mount[256];
  char own[256];
  if (!find_mount(mount, sizeof mount) || !find_own(own, sizeof own)) return false;
  const char* separator = strcmp(own, "/") == 0 ? "" : "/";
  return snprintf(path, size, "%s%s%southaul-%s", mount, own, separator, tag) < static_cast<int>(size);
}

// Its kill is under way: the kernel empties it in its own time, at most this long.
void wait_until_empty(const Cgroup& cgroup) {
  for (int round = 0; round < 100 && !cgroup.is_empty(); ++round) {
    const timespec pause{0, 10 * ns_per_ms};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

Cgroup Cgroup::make(int base, const char* name) {
  Cgroup cgroup;
  snprintf(cgroup.name_, sizeof cgroup.name_, "%s", name);
  if (mkdirat(base, name, 0755) != 0 && errno != EEXIST) return cgroup;
  cgroup.directory_ = Descriptor(openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!cgroup.directory_.is_open()) return cgroup;
  cgroup.processes_ = Descriptor(openat(cgroup.directory(), "cgroup.procs", O_RDONLY | O_CLOEXEC));
  return cgroup;
}

bool Cgroup::is_empty() const {
  char first[8];
  return pread(processes_.number(), first, sizeof first, 0) == 0;
}

void Cgroup::list(ProcessList& list) const {
  char text[4096];
  long number = 0;
  lseek(processes_.number(), 0, SEEK_SET);
  for (ssize_t got = 0; (got = read(processes_.number(), text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < got; ++i) {
      if (text[i] == '\n') {
        list.add(static_cast<pid_t>(std::exchange(number, 0)));
      } else {
        number = number * 10 + (text[i] - '0');
      }
    }
  }
}

bool Cgroup::kill() {
  was_killed_ = true;
  const Descriptor file(openat(directory(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  return file.is_open() && write(file.number(), "1", 1) == 1;
}

bool CgroupPool::open(const char* tag) {
  if (!find_base(tag, path_, sizeof path_)) return false;
  if (mkdir(path_, 0755) != 0 && errno != EEXIST) return false;
  base_ = Descriptor(::open(path_, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!base_.is_open()) return false;
  sweep();
  if (probe()) return true;
  close();
  return false;
}

void CgroupPool::sweep() {
  alignas(dirent64) char buffer[4096];
  const Descriptor listing(openat(base_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (long filled = 0; (filled = syscall(SYS_getdents64, listing.number(), buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < filled;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
      Cgroup old = Cgroup::make(base_.number(), entry->d_name);
      if (old.is_open() && !old.is_empty() && old.kill()) wait_until_empty(old);
      unlinkat(base_.number(), entry->d_name, AT_REMOVEDIR);
    }
  }
}

// A program that would sleep for ever is born in one and must be gone after its kill.
bool CgroupPool::probe() {
  Cgroup cgroup = take();
  if (!cgroup.is_open()) return false;
  char name[] = "/bin/sleep";
  char span[] = "1000";
  char* arguments[] = {name, span, nullptr};
  char* environment[] = {nullptr};
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const HeldFiles no_files;
  SpawnPlan plan{"/",
                 arguments,
                 environment,
                 {null.number(), null.number(), null.number()},
                 cgroup.directory(),
                 0,
                 nullptr,
                 0,
                 {},
                 &no_files,
                 0};
  getrlimit(RLIMIT_NOFILE, &plan.open_files);
  const SpawnOutcome outcome = spawn_program(plan);
  if (outcome.process < 0) return false;
  const bool was_born_in_it = !cgroup.is_empty();
  if (!cgroup.kill()) ::kill(outcome.process, SIGKILL);
  int status = 0;
  waitpid(outcome.process, &status, 0);
  const bool works = was_born_in_it && cgroup.is_empty();
  give_back(std::move(cgroup));
  return works;
}

Cgroup CgroupPool::take() {
  if (spare_count_ > 0) return std::move(spares_[--spare_count_]);
  char name[32];
  snprintf(name, sizeof name, "%d-%u", getpid(), made_++);
  return Cgroup::make(base_.number(), name);
}

void CgroupPool::give_back(Cgroup cgroup) {
  if (!cgroup.is_open() || !cgroup.is_empty()) return;
  if (cgroup.was_killed()) {
    unlinkat(base_.number(), cgroup.name(), AT_REMOVEDIR);
    return;
  }
  if (spare_count_ < sizeof spares_ / sizeof spares_[0]) spares_[spare_count_++] = std::move(cgroup);
}

void CgroupPool::close() {
  while (spare_count_ > 0) spares_[--spare_count_] = Cgroup();
  if (!base_.is_open()) return;
  sweep();
  base_.reset();
  rmdir(path_);
}

}  // namespace outhaul::launcher
