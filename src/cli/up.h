// Up: a hub and a node on this machine, from nothing, kept alive until Ctrl-C. Runs on one strand.
#pragma once

#include <memory>
#include <string>

#include "base/event.h"
#include "base/task_group.h"
#include "cli/api.h"
#include "cli/child_process.h"

namespace outhaul::cli {

struct UpOptions {
  std::string data;                       // empty: the XDG place
  std::string listen = "127.0.0.1:8443";  // port 0: any free one
  std::string ready_file;
};

class Up {
 public:
  Up(Cli& cli, UpOptions options);

  // Sets up what is missing, starts both, and returns after Ctrl-C and the drain. The exit code.
  Task<int> run();

 private:
  // What is kept running, and started again when it dies.
  struct Kept {
    std::string name;
    ChildSpec spec;
    std::unique_ptr<ChildProcess> process;
    std::uintmax_t log_begin = 0;  // where in its log it began to write
  };
  struct Ready {
    std::string url;
    std::string ca_fingerprint;
  };

  Task<Result<void>> start();
  Task<Result<void>> run_to_end(ChildSpec spec, std::string what);
  Task<Result<void>> prepare_hub();
  Task<Result<Ready>> start_hub();
  Task<Result<void>> prepare_node(Api& api);
  Task<Result<void>> remove_lost_node(Api& api);
  Task<Result<void>> enrol_node(Api& api, bool is_last_try);
  Task<Result<Secret>> enrolment_token(Api& api);
  Task<Result<void>> wait_attached(Api& api);
  Result<void> check_unused() const;
  Result<void> keep_context();
  Task<Result<void>> await_earlier_node();
  Error not_started(const Kept& kept, std::string what) const;
  void remove_ready_file() const;
  Result<void> write_ready_file() const;
  void print_welcome() const;
  Result<void> launch(Kept& kept);
  Task<void> keep(Kept& kept);
  Task<void> watch_signals();
  Task<void> stop(Kept& kept, Duration limit);

  std::string hub_data() const { return options_.data + "/hub"; }
  std::string node_data() const { return options_.data + "/node"; }
  // While it stands, the node's set-up is not finished. The same token again gives the same node.
  std::string token_path() const { return options_.data + "/enrolment-token"; }

  Cli& cli_;
  UpOptions options_;
  std::string programs_;
  Ready ready_;
  Kept hub_;
  Kept node_;
  TaskGroup keepers_;
  Event stopping_;
  bool is_only_one_ = false;  // nobody else uses the directory, so the ready file is ours too
};

}  // namespace outhaul::cli
