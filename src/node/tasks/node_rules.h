// NodeRules: the owner's say in what runs here, from node.yaml and from how busy the node is.
#pragma once

#include <functional>

#include "node/node_settings.h"
#include "stream/disk.h"
#include "stream/stream_store.h"
#include "wire/task_gate.h"

namespace outhaul::node {

class NodeRules final : public wire::TaskRules {
 public:
  // What changes while the node runs.
  struct Load {
    std::uint32_t running = 0;
    bool is_draining = false;
    bool is_launcher_silent = false;
  };
  // All outlive the rules.
  NodeRules(const NodeSettings& settings, stream::Disk& disk, stream::StreamStore& streams,
            std::function<Load()> load);

  // Which account a task is for is between the people and the hub until nodes have lists of their own.
  Result<void> check_owner(const wire::TaskSpec&) const override { return {}; }
  Result<void> check_policy(const wire::TaskSpec& spec) const override;
  Result<void> check_consent(const wire::TaskSpec&) const override { return {}; }
  Result<void> check_capacity(const wire::TaskSpec& spec) const override;

 private:
  const NodeSettings& settings_;
  stream::Disk& disk_;
  stream::StreamStore& streams_;
  std::function<Load()> load_;
};

}  // namespace outhaul::node
