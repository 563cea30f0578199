// ChildProcess: one program that `outhaul up` keeps. Ends with us: when this process dies, the child
// gets SIGTERM. Runs on the executor it was started with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
#include "base/task.h"

namespace outhaul::cli {

struct ChildSpec {
  std::vector<std::string> argv;  // argv[0] is the program's path
  std::string log_path;           // standard output and error are appended here
  std::string stdin_text;         // given on standard input, then end of file; small (below a pipe's size)
};

class ChildProcess {
 public:
  // Fails with spawn_failed and the system's reason.
  static Result<std::unique_ptr<ChildProcess>> start(const Executor& executor, const ChildSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Looks, and reaps it when it has.
  bool has_ended();
  void signal(int number) const;
  // Completes when it has ended, with its wait status. One waiter at a time.
  Task<int> wait();

 private:
  class Watch;
  ChildProcess(pid_t pid, std::unique_ptr<Watch> watch);
  pid_t pid_;
  bool has_ended_ = false;
  int status_ = 0;
  std::unique_ptr<Watch> watch_;
};

// "exited with 3" or "ended by signal 9".
std::string end_text(int wait_status);
// The directory that holds this program and its siblings.
std::string program_directory();

}  // namespace outhaul::cli
