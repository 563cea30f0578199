// The registry of enrolled machines: who they are and what was last heard of them. Live facts (load,
// slots) stay in the hub's memory; a row holds what must survive a restart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "store/page.h"

namespace outhaul::store {

// Names hold neither '=' nor a line end, values no line end: else `invalid`.
using Labels = std::map<std::string, std::string>;
// Words such as "task". Empty means every plane. A word is not empty and holds no line end.
using Planes = std::set<std::string>;

enum class NodeState { enabled = 0, draining = 1, removed = 2 };

// The TLS certificate that the node was last given.
struct NodeCertificate {
  std::string fingerprint;  // hex SHA-256 of its SPKI
  std::string serial;       // hex
  WallTime expires_at;
  bool operator==(const NodeCertificate&) const = default;
};

// That a node's TLS keys may be in other hands was reported: the next certificate that it is given makes all
// before it worthless.
struct NodeRotation {
  WallTime requested_at;       // zero: nothing is due
  WallTime certificates_from;  // what was issued before is refused, but for the newest certificate
  bool is_pending() const { return requested_at != WallTime(); }
  bool operator==(const NodeRotation&) const = default;
};

// What a session said when it attached.
struct NodeSighting {
  WallTime seen_at;
  std::string version;
  std::string manifest_json;  // the node's own words; empty before the first session
  bool operator==(const NodeSighting&) const = default;
};

// Totals since enrolment.
struct NodeCounters {
  std::uint64_t tasks_finished = 0;
  std::uint64_t tasks_failed = 0;  // Outhaul's failures, not exit codes
  std::uint64_t tasks_lost = 0;
  std::uint64_t crashes = 0;  // starts of the node without a clean end before
  bool operator==(const NodeCounters&) const = default;
};

struct NodeRow {
  NodeId id;
  std::string name;  // unique among nodes that are not removed
  std::string pool;
  Labels labels;
  Planes planes;
  WallTime enrolled_at;
  NodeState state = NodeState::enabled;
  NodeCertificate certificate;
  Bytes signing_key;  // Ed25519 public key, 32 bytes
  NodeSighting last_seen;
  NodeCounters counters;
  NodeRotation rotation;
  bool is_ephemeral =
      false;  // it said so when it enrolled: it leaves by itself, or is removed when it is away
  bool operator==(const NodeRow&) const = default;
};

class NodeReader {
 public:
  virtual ~NodeReader() = default;
  virtual Result<std::optional<NodeRow>> find(const NodeId& id) = 0;
  // Removed nodes have no name any more.
  virtual Result<std::optional<NodeRow>> find_by_name(const std::string& name) = 0;
  // Oldest first, removed ones too.
  virtual Result<Page<NodeRow>> list(const PageRequest& page) = 0;
};

// Every change of an id that does not exist is `not_found`.
class NodeStore : public NodeReader {
 public:
  // name_taken: another node has the name. conflict: the id exists (an identity is never replaced).
  virtual Result<void> add(const NodeRow& node) = 0;
  // `removed` is final: leaving it is `node_removed`.
  virtual Result<void> set_state(const NodeId& id, NodeState state) = 0;
  virtual Result<void> set_certificate(const NodeId& id, const NodeCertificate& certificate) = 0;
  virtual Result<void> set_rotation(const NodeId& id, const NodeRotation& rotation) = 0;
  virtual Result<void> note_seen(const NodeId& id, const NodeSighting& sighting) = 0;
  // Adds `increments` to the totals.
  virtual Result<void> count(const NodeId& id, const NodeCounters& increments) = 0;
};

}  // namespace outhaul::store
