// NodeSettings: the numbers and permissions of a node that its owner's file may change. NodeFacts: what it
// tells the hub about its machine. NodeSelf: who it is.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "crypto/envelope.h"
#include "policy/policy.h"
#include "stream/file_sizes.h"
#include "wire/session.h"
#include "wire/task_spec.h"
#include "wire/user_order.h"

namespace outhaul::sandbox {
struct ProcessSpec;
}

namespace outhaul::node {

struct NodeSettings {
  // Levels at which tasks may run here; empty: none. `trusted` must be named by the owner.
  std::vector<wire::IsolationLevel> isolation;
  std::uint32_t slots = 64;                             // tasks at once
  std::optional<std::uint32_t> most_tasks;              // that one process accepts; none: no end
  std::string workspace;                                // absolute; the directory of workspace:default
  std::string home;                                     // HOME of tasks; empty: the workspace
  std::uint64_t audit_bytes = std::uint64_t{1} << 30U;  // of the audit log; then its oldest files go
  std::uint64_t spool_bytes = std::uint64_t{8} << 30U;  // unacknowledged output of all tasks
  std::uint64_t disk_floor_bytes = 256U << 20U;         // below it no task is taken
  // How long output waits for room on a full disk before its task fails as node_disk_full.
  Duration full_disk_patience = std::chrono::seconds(10);
  bool journal_must_exist = false;  // the data directory was made with one: none is made instead of it
  Duration drain_limit = std::chrono::seconds(30);
  Duration pipe_grace = std::chrono::seconds(2);
  Duration max_term_grace = std::chrono::seconds(60);  // a task may ask for less
  // Of policy.yaml; none: everything runs that `isolation` allows, and nobody is asked.
  std::optional<policy::Policy> policy;
  std::string policy_sha256;  // of the file's text, hex
  // Set: a task runs only when one of these people has signed it. From node.yaml, never from the hub.
  std::optional<std::vector<wire::TrustedUser>> users;
  stream::FileSizes files = {};
  bool hub_may_answer = false;  // questions to the person at the node, for its owner
};

// Below so much free space no output is written: results and the journal need some of it too.
inline std::uint64_t output_floor_bytes(const NodeSettings& settings) {
  constexpr std::uint64_t most = 64U << 20U;
  return std::min(most, settings.disk_floor_bytes);
}

// The file that a program's start would execute, as it is now.
struct ExecutedFile {
  std::string path;
  Bytes sha256;
};

struct NodeFacts {
  std::string version;
  std::string platform;  // "linux/amd64"
  std::string kernel;
  std::string hostname;
  std::string boot_id;
  std::map<std::string, std::string> more;  // free facts, for selectors
  std::function<double()> load_average;     // of the machine now; may be empty
  // For receipts; may be empty. Gives an empty path when no file is found.
  std::function<ExecutedFile(const sandbox::ProcessSpec&)> executed_file;
};

struct NodeSelf {
  NodeId node;
  std::string deployment;
  // Signs Hello; outlives the node.
  const wire::HelloSigner* signer = nullptr;
  std::vector<crypto::TrustedKey> hub_keys;  // of the enrolment
  std::string name = {};                     // as its owner chose it
};

}  // namespace outhaul::node
