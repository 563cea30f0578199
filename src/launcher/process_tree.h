// Reads /proc: who descends from whom, and who holds a pipe.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace outhaul::launcher {

// The processes of one task at one moment. A tree above max_processes is ended in several rounds.
struct ProcessList {
  static constexpr std::size_t max_processes = 4096;
  pid_t ids[max_processes];
  std::size_t count = 0;

  void add(pid_t process) {
    if (count < max_processes) ids[count++] = process;
  }
};

// Appends every descendant of `root`, itself left out.
void list_descendants(pid_t root, ProcessList& list);

// Appends every process that has the variable `marker` (NAME=value) in the environment it was started with.
void list_marked(const char* marker, ProcessList& list);

// Sends `signal` to each; one that is gone already is no failure.
void signal_all(const ProcessList& list, int signal);

// The first process of `list` that has `pipe` (a descriptor of ours, either end) open, as "name[pid]"
// in `text`; an empty text when none has.
void name_pipe_holder(const ProcessList& list, int pipe, char* text, std::size_t text_bytes);

}  // namespace outhaul::launcher
