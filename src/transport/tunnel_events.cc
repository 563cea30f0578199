// What arrives on a running tunnel: from the multiplexer's events to handlers and waiting owners.
#include <utility>

#include "transport/tunnel_core.h"
#include "wire/message.h"

namespace outhaul::transport {
namespace {

// How far a heartbeat's clock may be late by queueing before it counts as a step of the hub's clock.
constexpr Duration heartbeat_uncertainty = std::chrono::seconds(2);
constexpr std::size_t max_probe_nonce_bytes = 64;

}  // namespace

Result<void> TunnelCore::take_events(TunnelHandler& handler) {
  while (auto event = mux_.take_event()) {
    auto taken = std::visit([&](auto& happened) { return take_event(std::move(happened), handler); }, *event);
    if (!taken || has_ended()) return taken;
  }
  return {};
}

Result<void> TunnelCore::take_event(wire::ControlArrived event, TunnelHandler& handler) {
  const auto& message = event.message;
  switch (message.message_case()) {
    case v1::Control::kHeartbeat: return take_heartbeat(message.heartbeat(), handler);
    case v1::Control::kProbe: {
      if (message.probe().nonce().size() > max_probe_nonce_bytes) {
        return fail(ErrorCode::protocol_violation, "probe: nonce length");
      }
      v1::Control answer;
      answer.mutable_probe_answer()->set_nonce(message.probe().nonce());
      return mux_.send_control(answer);
    }
    case v1::Control::kProbeAnswer:
      if (awaited_probes_.erase(message.probe_answer().nonce()) > 0) probe_changed_.pulse();
      return {};
    case v1::Control::kGoodbye: end(error_of_goodbye(message.goodbye())); return {};
    case v1::Control::kChallenge:
    case v1::Control::kHello:
    case v1::Control::kWelcome:
      return fail(ErrorCode::protocol_violation, "a second handshake inside a session");
    case v1::Control::MESSAGE_NOT_SET: return {};  // said by a newer peer
    default: handler.on_control(message); return {};
  }
}

Result<void> TunnelCore::take_heartbeat(const v1::Heartbeat& heartbeat, TunnelHandler& handler) {
  const auto time = now();
  OUTHAUL_CHECK(heartbeats_->receive(heartbeat, time.steady));
  if (hub_clock_ && heartbeat.clock_ns() > 0) {
    hub_clock_->refine(WallTime{heartbeat.clock_ns()}, time.steady, heartbeat_uncertainty);
  }
  handler.on_heartbeat(heartbeat);
  return {};
}

Result<void> TunnelCore::take_event(wire::ChannelOpened event, TunnelHandler& handler) {
  auto target = wire::ChannelTarget::parse(event.open.plane(), event.open.target());
  if (!target) {
    mux_.refuse(event.channel, wire::refuse_of(target.error()));
    return {};
  }
  if (!wire::may_open(other(side_), target->plane())) {
    mux_.refuse(event.channel,
                wire::refuse_of(Error(ErrorCode::denied, "this plane is opened by the other side")));
    return {};
  }
  handler.on_open(IncomingChannel(add_channel(event.channel), *std::move(target), std::move(event.open)));
  return {};
}

Result<void> TunnelCore::take_event(wire::ChannelAccepted event, TunnelHandler&) {
  if (auto* const state = find_channel(event.channel)) {
    state->accept = std::move(event.accept);
    state->changed.pulse();
  }
  return {};
}

Result<void> TunnelCore::take_event(wire::ChannelRefused event, TunnelHandler&) {
  if (auto* const state = find_channel(event.channel)) {
    state->failure = wire::error_of(event.refuse);
    state->changed.pulse();
  }
  return {};
}

Result<void> TunnelCore::take_event(wire::ChannelReadable event, TunnelHandler&) {
  if (auto* const state = find_channel(event.channel)) state->changed.pulse();
  return {};
}

Result<void> TunnelCore::take_event(wire::ChannelWritable event, TunnelHandler&) {
  if (auto* const state = find_channel(event.channel)) state->changed.pulse();
  return {};
}

Result<void> TunnelCore::take_event(wire::ChannelFinished event, TunnelHandler&) {
  if (auto* const state = find_channel(event.channel)) {
    state->is_peer_finished = true;
    state->changed.pulse();
  }
  return {};
}

Result<void> TunnelCore::take_event(wire::ChannelReset event, TunnelHandler&) {
  if (auto* const state = find_channel(event.channel)) {
    if (!state->failure) state->failure = Error(event.code, "the peer gave up the channel");
    state->changed.pulse();
  }
  return {};
}

}  // namespace outhaul::transport
