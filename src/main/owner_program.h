// What outhaul-node does for the machine's owner beside a running node. Each gives the program's exit code.
#pragma once

#include <string>
#include <vector>

namespace outhaul {

struct OwnerOptions {
  std::string data;
  std::string config_file;  // as `run --config`
  bool json = false;
  std::string reason;             // lock
  std::vector<std::string> argv;  // policy explain
  std::string shell;              // policy explain: a line instead of argv
  std::string cwd;                // policy explain: below the workspace
  std::vector<std::string> env;   // policy explain: NAME=value, as the task would set them
  std::string account;            // policy explain
  std::string plane = "task";     // policy explain
  std::string task;               // approvals answer
  std::string answer;             // approvals answer: once, session, never
};

// Ends everything that runs and starts nothing until unlock_node(); works without a running node too.
int lock_node(const OwnerOptions& options);
int unlock_node(const OwnerOptions& options);
// Whether the owner's files are whole and can hold, and which rules allow anything.
int check_policy(const OwnerOptions& options);
// What the policy says of one command. The exit code is 0 for allowed, 3 for asked, 4 for refused.
int explain_policy(const OwnerOptions& options);
// Shows each question once and reads its answer, until there is no other or the input ends.
int attend_approvals(const OwnerOptions& options);
int list_approvals(const OwnerOptions& options);
int answer_approval(const OwnerOptions& options);
int forget_approvals(const OwnerOptions& options);

}  // namespace outhaul
