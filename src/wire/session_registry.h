// SessionRegistry: one live session per identity. Pure; the hub asks it before Welcome.
//
// Same instance: the new session replaces the old (a reconnect). Another instance: the old session is
// probed; silent for probe_limit it is replaced, alive the newcomer is refused and both are named. So a
// copied data directory does not flap and a half-open link does not lock its owner out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"

namespace outhaul::wire {

// One process that claims an identity.
struct Claimant {
  SessionId session;
  InstanceId instance;
  std::string address;  // of its carrier, for the people who must find it
  bool operator==(const Claimant&) const = default;
};

struct AdmitNow {};
// Close this session with session_replaced; the newcomer already holds the place.
struct ReplaceOld {
  SessionId old;
};
// Probe it and report by old_answered() or old_silent().
struct ProbeOld {
  SessionId old;
};
using Arrival = std::variant<AdmitNow, ReplaceOld, ProbeOld>;

class SessionRegistry {
 public:
  // Fails with `unavailable` (try again) while another newcomer's probe of this node is under way.
  Result<Arrival> arrive(const NodeId& node, const Claimant& newcomer);
  // The probe's outcome for the newcomer that arrive() told to probe.
  //   old_answered  duplicate_instance with details node, first and second ("instance at address")
  //   old_silent    the newcomer takes the place: ReplaceOld, or AdmitNow when the old has left meanwhile
  // Both fail with `unavailable` when the newcomer left, or the old instance came back in a new session.
  Error old_answered(const NodeId& node, const SessionId& newcomer);
  Result<Arrival> old_silent(const NodeId& node, const SessionId& newcomer);
  // A session ended, or a newcomer gave up. Unknown ones are ignored (it was replaced).
  void leave(const NodeId& node, const SessionId& session);

  std::optional<Claimant> find(const NodeId& node) const;
  std::size_t size() const { return places_.size(); }

 private:
  struct Place {
    std::optional<Claimant> holder;
    std::optional<Claimant> prober;
  };
  std::map<NodeId, Place> places_;
};

}  // namespace outhaul::wire
