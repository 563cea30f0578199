// RunSession: one `outhaul run` from submission to exit code: output as it comes, input as it is typed,
// Ctrl-C, and a hub that goes away for a while. Runs on one strand.
#pragma once

#include <string>

#include "base/task_group.h"
#include "cli/api.h"
#include "cli/output.h"
#include "cli/task_request.h"

namespace outhaul::cli {

class RunSession {
 public:
  RunSession(Cli& cli, Api api, RunOptions options);

  // The exit code of `outhaul run`.
  Task<int> run();

 private:
  Task<int> submit_detached(Bytes body);
  Task<int> attend(Bytes body);
  Task<Result<void>> submit_and_follow(Bytes body);
  Task<void> watch_signals();
  Task<void> await_name();
  Task<void> cancel_interrupted();
  Task<void> send_input();
  Task<void> give_up_input(Error error);
  Task<Result<void>> put_input(Api& api, std::uint64_t& offset, Bytes bytes, bool is_end);
  Task<void> explain_waiting();
  void say_why(const json::value& task, const std::vector<std::string>& lines) const;
  void say_cancelling(int number) const;
  [[noreturn]] void leave(int number) const;
  Task<void> cancel_task(std::string signal);
  Task<int> finish(Result<void> followed);
  Task<std::string> node_name();

  Cli& cli_;
  Api api_;
  RunOptions options_;
  OutputSink sink_;
  TaskGroup helpers_;  // signals, input, the note on why it waits
  std::string task_id_;
  std::string stream_id_;
  int interrupted_by_ = 0;        // the first signal that came; 0: none yet
  bool is_cancel_known_ = false;  // to the hub
  bool has_input_failed_ = false;
};

}  // namespace outhaul::cli
