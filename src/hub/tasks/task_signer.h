// TaskSigner: the hub's one use of its signing key. A signed task is bound to one node and a short time.
#pragma once

#include "base/clock.h"
#include "base/random.h"
#include "crypto/envelope.h"
#include "hub/hub_keys.h"
#include "hub/hub_settings.h"
#include "wire/task_spec.h"

namespace outhaul::hub {

// Stands in an order that no node was chosen for, so that the order has the form of a task from the start.
const NodeId& unassigned_node();

class TaskSigner {
 public:
  // All references outlive the signer.
  TaskSigner(const HubSettings& settings, const HubKeys& keys, const Clock& clock, Random& random);

  // The first half of every fence from now on.
  void set_epoch(std::uint64_t hub_epoch) { hub_epoch_ = hub_epoch; }
  std::uint64_t epoch() const { return hub_epoch_; }

  // The serialised envelope over `spec`, for `node`, from now, with a fresh nonce. Errors as wire::sign_task.
  Result<Bytes> sign(wire::TaskSpec spec, const NodeId& node);
  // The task inside when this hub has signed it for `node`. Errors as wire::open_task_envelope, and
  // task_audience_mismatch.
  Result<wire::TaskSpec> open(ByteView envelope, const NodeId& node) const;
  // True when no node takes the envelope any more, or might not by the time it arrives.
  bool is_stale(ByteView envelope) const;
  // True when certainly no node takes it: its end is past by more than an honest clock is off.
  bool is_dead(ByteView envelope) const;

 private:
  const HubSettings& settings_;
  const HubKeys& keys_;
  const Clock& clock_;
  Random& random_;
  std::uint64_t hub_epoch_ = 1;
};

}  // namespace outhaul::hub
