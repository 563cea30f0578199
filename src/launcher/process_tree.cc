#include "launcher/process_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "launcher/descriptor.h"

namespace outhaul::launcher {
namespace {

// opendir() allocates; this reads a directory of /proc with the bare system call.
class NumberedEntries {
 public:
  explicit NumberedEntries(const char* path) : directory_(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  int directory() const { return directory_.number(); }
  // The next entry whose name is a number; -1 at the end.
  long next() {
    while (directory_.is_open()) {
      if (at_ >= filled_ && !fill()) return -1;
      const auto* entry = reinterpret_cast<const dirent64*>(buffer_ + at_);
      at_ += entry->d_reclen;
      if (isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0)
        return strtol(entry->d_name, nullptr, 10);
    }
    return -1;
  }

 private:
  bool fill() {
    filled_ = syscall(SYS_getdents64, directory_.number(), buffer_, sizeof buffer_);
    at_ = 0;
    return filled_ > 0;
  }
  Descriptor directory_;
  alignas(dirent64) char buffer_[4096];
  long at_ = 0;
  long filled_ = 0;
};

void list_children(pid_t parent, ProcessList& list) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return;
  char text[4096];
  long number = 0;
  for (ssize_t got = 0; (got = read(file.number(), text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < got; ++i) {
      if (isdigit(static_cast<unsigned char>(text[i])) != 0) {
        number = number * 10 + (text[i] - '0');
      } else if (number != 0) {
        list.add(static_cast<pid_t>(number));
        number = 0;
      }
    }
  }
}

bool holds_pipe(pid_t process, const struct stat& pipe) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd", process);
  NumberedEntries descriptors(path);
  for (long number = 0; (number = descriptors.next()) >= 0;) {
    char name[24];
    snprintf(name, sizeof name, "%ld", number);
    struct stat held{};
    if (fstatat(descriptors.directory(), name, &held, 0) != 0) continue;
    if (held.st_ino == pipe.st_ino && held.st_dev == pipe.st_dev) return true;
  }
  return false;
}

bool has_variable(pid_t process, const char* marker) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", process);
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return false;
  // The marker is among the last variables that a task is given, and programs get at most this much.
  static char text[256 * 1024];
  std::size_t filled = 0;
  for (ssize_t got = 0;
       filled < sizeof text && (got = read(file.number(), text + filled, sizeof text - filled)) > 0;) {
    filled += static_cast<std::size_t>(got);
  }
  const std::size_t length = strlen(marker) + 1;  // with its NUL
  for (std::size_t at = 0; at + length <= filled; at += strnlen(text + at, filled - at) + 1) {
    if (memcmp(text + at, marker, length) == 0) return true;
  }
  return false;
}

void format_name(pid_t process, char* text, std::size_t text_bytes) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", process);
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  char name[17] = "?";
  if (file.is_open()) {
    const ssize_t got = read(file.number(), name, sizeof name - 1);
    name[got > 0 ? got : 0] = '\0';
  }
  name[strcspn(name, "\n")] = '\0';
  snprintf(text, text_bytes, "%s[%d]", name, process);
}

}  // namespace

void list_descendants(pid_t root, ProcessList& list) {
  std::size_t next = list.count;
  list_children(root, list);
  // The list grows while it is walked: breadth first.
  for (; next < list.count; ++next) list_children(list.ids[next], list);
}

void list_marked(const char* marker, ProcessList& list) {
  NumberedEntries processes("/proc");
  for (long number = 0; (number = processes.next()) >= 0;) {
    const auto process = static_cast<pid_t>(number);
    if (process != getpid() && has_variable(process, marker)) list.add(process);
  }
}

void signal_all(const ProcessList& list, int signal) {
  for (std::size_t i = 0; i < list.count; ++i) kill(list.ids[i], signal);
}

void name_pipe_holder(const ProcessList& list, int pipe, char* text, std::size_t text_bytes) {
  text[0] = '\0';
  struct stat wanted{};
  if (fstat(pipe, &wanted) != 0) return;
  for (std::size_t i = 0; i < list.count; ++i) {
    if (holds_pipe(list.ids[i], wanted)) return format_name(list.ids[i], text, text_bytes);
  }
}

}  // namespace outhaul::launcher
