// NodeConfig: what the owner of a machine allows and limits, in node.yaml. Every key has the default of
// NodeSettings, except that nothing is allowed until `isolation` says so.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "node/node_settings.h"

namespace outhaul::node {

struct NodeConfig {
  NodeSettings settings;
  std::string hub;     // overrides the address of the enrolment; empty: none
  std::string policy;  // absolute path of policy.yaml; empty: where it lies by default
};

// Fails with `config_invalid` naming every fault at once, each with file, line and key.
Result<NodeConfig> parse_node_config(std::string_view text, std::string file_name);

}  // namespace outhaul::node
