#include "wire/session_registry.h"

#include <utility>

#include "base/planted_fault.h"

namespace outhaul::wire {
namespace {

Error try_again(const char* what) { return Error(ErrorCode::unavailable, what); }

std::string place_of(const Claimant& claimant) {
  return claimant.instance.text() + " at " +
         (claimant.address.empty() ? "an unknown address" : claimant.address);
}

Error duplicate_of(const NodeId& node, const Claimant& holder, const Claimant& newcomer) {
  auto first = place_of(holder);
  auto second = place_of(newcomer);
  Error error(ErrorCode::duplicate_instance, "two processes use the identity of " + node.text() + ": " +
                                                 first + " is alive, " + second + " was refused");
  return std::move(error)
      .with("node", node.text())
      .with("first", std::move(first))
      .with("second", std::move(second));
}

}  // namespace

Result<Arrival> SessionRegistry::arrive(const NodeId& node, const Claimant& newcomer) {
  auto& place = places_[node];
  if (!place.holder) {
    place.holder = newcomer;
    // Whoever was probing asked a session that is gone; it must ask this one.
    place.prober.reset();
    return Arrival(AdmitNow{});
  }
  if (place.holder->instance == newcomer.instance || OUTHAUL_FAULT("duplicate_instance_admitted")) {
    auto old = std::exchange(place.holder, newcomer);
    // Whoever was probing asked a session that is gone; it must ask again.
    place.prober.reset();
    return Arrival(ReplaceOld{std::move(old->session)});
  }
  if (place.prober) return fail(try_again("another process of this identity is being checked"));
  place.prober = newcomer;
  return Arrival(ProbeOld{place.holder->session});
}

Error SessionRegistry::old_answered(const NodeId& node, const SessionId& newcomer) {
  const auto found = places_.find(node);
  if (found == places_.end() || !found->second.prober || found->second.prober->session != newcomer) {
    return try_again("the check of the other process was given up");
  }
  auto& place = found->second;
  const auto refused = *std::exchange(place.prober, std::nullopt);
  if (!place.holder) {
    places_.erase(found);
    return try_again("the other process has just left");
  }
  return duplicate_of(node, *place.holder, refused);
}

Result<Arrival> SessionRegistry::old_silent(const NodeId& node, const SessionId& newcomer) {
  const auto found = places_.find(node);
  if (found == places_.end() || !found->second.prober || found->second.prober->session != newcomer) {
    return fail(try_again("the check of the other process was given up"));
  }
  auto& place = found->second;
  auto arrived = *std::exchange(place.prober, std::nullopt);
  auto old = std::exchange(place.holder, std::move(arrived));
  if (!old) return Arrival(AdmitNow{});
  return Arrival(ReplaceOld{std::move(old->session)});
}

void SessionRegistry::leave(const NodeId& node, const SessionId& session) {
  const auto found = places_.find(node);
  if (found == places_.end()) return;
  auto& place = found->second;
  if (place.holder && place.holder->session == session) place.holder.reset();
  if (place.prober && place.prober->session == session) place.prober.reset();
  if (!place.holder && !place.prober) places_.erase(found);
}

std::optional<Claimant> SessionRegistry::find(const NodeId& node) const {
  const auto found = places_.find(node);
  if (found == places_.end()) return std::nullopt;
  return found->second.holder;
}

}  // namespace outhaul::wire
