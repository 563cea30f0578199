// OwnerPolicy: the owner's policy applied to a task as this node would execute it.
//   runs on  the node's strand; what reads whole files does so in FileWork
#pragma once

#include "node/node_settings.h"
#include "node/owner/file_work.h"
#include "node/owner/task_binding.h"
#include "policy/judge.h"

namespace outhaul::node {

class OwnerPolicy {
 public:
  // All outlive it. `files` is null where nobody asks for a policy, `work` where files are read on the spot.
  OwnerPolicy(const NodeSettings& settings, const TaskFiles* files, FileWork* work)
      : settings_(settings), files_(files), work_(work) {}

  bool exists() const { return settings_.policy && files_ != nullptr; }
  // Whether some tasks ask the person at the node.
  bool may_ask() const;
  std::chrono::nanoseconds ask_within() const { return settings_.policy->ask_within; }
  bool accepts_owner(const AccountId& owner) const;
  // `allowed` for everything where there is no policy, and for an echo, which starts nothing. Reads the files
  // of rules that name a content, on the spot.
  policy::Verdict judge(const wire::TaskSpec& task, std::string_view plane = "task") const;
  // Of what would be executed now.
  //   errors  task_policy_refused: a file of it cannot be read or is too large
  Task<Result<TaskBinding>> bind(wire::TaskSpec task) const;
  // What would be executed now, held.
  //   errors  as bind(); also when the policy refuses it by now. consent_void: there is no policy any more
  Task<Result<HeldTask>> hold(wire::TaskSpec task) const;

 private:
  const NodeSettings& settings_;
  const TaskFiles* files_;
  FileWork* work_;
};

}  // namespace outhaul::node
