// The files in which a node's owner says what it does: node.yaml and policy.yaml.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "node/node_config.h"

namespace outhaul {

struct OwnerFiles {
  node::NodeConfig config;  // its settings hold the policy
  std::string config_path;  // empty: there is no such file
  std::string policy_path;
};

// node.yaml: `config_file` when given, else the one in the data directory, else the one in /etc/outhaul.
// policy.yaml: the one that node.yaml names, else beside it in the same order. The workspace is made
// absolute.
//   errors  config_invalid with every fault; also for a policy that cannot hold (policy::check_enforceable).
//   Those of
//           read_trusted_file
// `isolation`: levels that the command line allows besides.
Result<OwnerFiles> load_owner_files(const std::filesystem::path& data_directory,
                                    const std::string& config_file,
                                    const std::vector<wire::IsolationLevel>& isolation = {});

}  // namespace outhaul
