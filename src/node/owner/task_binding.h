// TaskBinding: what an answer to a question is bound to: everything that decides what a task does when it
// runs.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "node/owner/task_files.h"

namespace outhaul::node {

// A file that decides what a task does.
struct BoundFile {
  std::string path;  // without links
  HeldFile held;
};

struct TaskBinding {
  std::vector<BoundFile> files;  // the program first
  Bytes digest;                  // 32 bytes over owner, argv, environment, directory and files
};

// Of what would be executed now; holds nothing.
//   errors  task_policy_refused: a file of it cannot be read or is too large
Result<TaskBinding> bind_task(const sandbox::ProcessSpec& spec, const AccountId& owner,
                              const TaskFiles& files);

struct HeldTask {
  TaskBinding binding;
  sandbox::ProcessSpec spec;  // runs what the binding names, whatever happens to the paths
};

// The same, and held: the program, the script that an interpreter is given as an argument, and the directory.
// What only a shell line names is not: it runs from its path.
Result<HeldTask> hold_task(sandbox::ProcessSpec spec, const AccountId& owner, const TaskFiles& files);

// PATH of the program.
std::string search_path_of(const sandbox::ProcessSpec& spec);

}  // namespace outhaul::node
