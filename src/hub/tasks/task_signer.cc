#include "hub/tasks/task_signer.h"

namespace outhaul::hub {
namespace {

// Nodes allow for minutes of skew; a second covers the way.
constexpr std::chrono::nanoseconds travel_time = std::chrono::seconds(1);
// How far a node's idea of our time may be off.
constexpr std::chrono::nanoseconds clock_doubt = std::chrono::minutes(1);

// What cannot be read is valid nowhere.
bool has_ended(ByteView envelope, WallTime now) {
  const auto parsed = wire::parse_envelope(envelope);
  if (!parsed) return true;
  const auto spec = wire::parse_task_spec(parsed->payload);
  return !spec || now >= spec->expires_at;
}

}  // namespace

const NodeId& unassigned_node() {
  static const NodeId node = NodeId::assume("node_00000000000000000000000000");
  return node;
}

TaskSigner::TaskSigner(const HubSettings& settings, const HubKeys& keys, const Clock& clock, Random& random)
    : settings_(settings), keys_(keys), clock_(clock), random_(random) {}

Result<Bytes> TaskSigner::sign(wire::TaskSpec spec, const NodeId& node) {
  spec.audience = node;
  spec.issued_at = clock_.wall_now();
  spec.expires_at = spec.issued_at + settings_.envelope_lifetime;
  spec.nonce = random_.bytes(wire::task_nonce_bytes);
  spec.fence = {hub_epoch_, 1};
  return wire::sign_task(spec, keys_.signing_key_id, keys_.signing_key);
}

Result<wire::TaskSpec> TaskSigner::open(ByteView envelope, const NodeId& node) const {
  const crypto::TrustedKey own[] = {{keys_.signing_key_id, keys_.signing_key.verify_key()}};
  OUTHAUL_TRY(spec, wire::open_task_envelope(envelope, own));
  if (spec.issuer != settings_.deployment || spec.audience != node) {
    return fail(ErrorCode::task_audience_mismatch, "the task was signed for another node");
  }
  return std::move(spec);
}

bool TaskSigner::is_stale(ByteView envelope) const {
  return has_ended(envelope, clock_.wall_now() + travel_time);
}

bool TaskSigner::is_dead(ByteView envelope) const {
  return has_ended(envelope, clock_.wall_now() - clock_doubt);
}

}  // namespace outhaul::hub
