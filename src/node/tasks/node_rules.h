// NodeRules: the owner's say in what runs here, from node.yaml, policy.yaml and their lock, and from how busy
// the node is.
#pragma once

#include <functional>

#include "base/log.h"
#include "node/consent/consent_desk.h"
#include "node/node_settings.h"
#include "node/owner/owner_policy.h"
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
    bool is_locked = false;
  };
  // What the rules look at. All outlive them.
  struct Needs {
    const NodeSettings& settings;
    stream::Disk& disk;
    stream::StreamStore& streams;
    const OwnerPolicy& policy;
    const ConsentDesk& consent;
    const Log& log;
    std::function<Load()> load;
  };
  explicit NodeRules(Needs needs) : needs_(std::move(needs)) {}

  Result<void> check_owner(const wire::TaskSpec& spec) const override;
  // The refusal says nothing of the machine; the reason is in the node's log.
  Result<void> check_policy(const wire::TaskSpec& spec) const override;
  Result<void> check_consent(const wire::TaskSpec& spec) const override;
  Result<void> check_capacity(const wire::TaskSpec& spec) const override;

 private:
  Result<void> check_programs(const wire::TaskSpec& spec) const;

  Needs needs_;
};

}  // namespace outhaul::node
