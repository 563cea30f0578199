// The state of one tunnel, shared by the coroutines of tunnel.cc, handshake.cc and channel.cc. Everything
// here runs on the tunnel's strand.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/event.h"
#include "transport/channel.h"
#include "transport/tunnel.h"
#include "wire/mux.h"

namespace outhaul::transport {

// What a Channel and its tunnel both know.
struct ChannelState {
  ChannelState(TunnelCore& owner, wire::ChannelId channel, const Executor& executor)
      : core(&owner), id(channel), changed(executor) {}

  TunnelCore* core;  // null once the session has ended
  wire::ChannelId id;
  std::optional<v1::Accept> accept;
  std::optional<Error> failure;
  bool is_finished = false;  // by us
  bool is_peer_finished = false;
  bool is_drained = false;  // the owner has seen the peer's end
  Event changed;            // pulsed at every change
};

class TunnelCore {
 public:
  TunnelCore(wire::Side side, std::unique_ptr<Carrier> carrier, TunnelPorts ports, const Executor& executor);
  ~TunnelCore();
  TunnelCore(const TunnelCore&) = delete;
  TunnelCore& operator=(const TunnelCore&) = delete;

  // During the handshake: one control message out, one in; anything else is protocol_violation.
  Task<Result<void>> send_now(v1::Control message);
  Task<Result<v1::Control>> receive_control();
  // Sends Goodbye unless half a message is already out, and closes the carrier. Bounded to a second.
  Task<void> part(Error reason);

  void begin(wire::SessionTimes times, std::optional<wire::HubClock> hub_clock);
  Task<Error> run(TunnelHandler& handler);
  Result<Channel> open(const wire::ChannelTarget& target, v1::Open open);
  Result<void> send_control(const v1::Control& message);
  Task<bool> probe(TimePoint deadline);
  void close(Error reason);
  // Fails every channel and closes the carrier. The reason given first stays.
  void end(Error reason);
  bool has_ended() const { return end_.has_value(); }

  // For channels.
  void wake_writer() { output_.pulse(); }
  void release(const ChannelState& state);
  wire::Mux& mux() { return mux_; }

  wire::Now now() const { return {clock_.now(), clock_.wall_now()}; }
  AsyncClock& clock() { return clock_; }
  const CarrierPeer& peer() const { return carrier_->peer(); }
  std::optional<std::chrono::nanoseconds> hub_offset() const;

 private:
  Task<void> read_loop(TunnelHandler& handler);
  Task<void> write_loop(TunnelHandler& handler);
  Task<void> beat_loop(TunnelHandler& handler);
  Task<void> close_loop();
  Task<void> wait_for_probe(Bytes nonce);
  // Somebody types: what is not interactive leaves in small messages, and everybody gets turns.
  bool is_interactive();
  Task<void> give_turn(std::size_t moved_bytes);

  // Each fails when the peer broke the protocol or said Goodbye.
  Result<void> take_events(TunnelHandler& handler);
  Result<void> take_event(wire::ControlArrived event, TunnelHandler& handler);
  Result<void> take_event(wire::ChannelOpened event, TunnelHandler& handler);
  Result<void> take_event(wire::ChannelAccepted event, TunnelHandler& handler);
  Result<void> take_event(wire::ChannelRefused event, TunnelHandler& handler);
  Result<void> take_event(wire::ChannelReadable event, TunnelHandler& handler);
  Result<void> take_event(wire::ChannelWritable event, TunnelHandler& handler);
  Result<void> take_event(wire::ChannelFinished event, TunnelHandler& handler);
  Result<void> take_event(wire::ChannelReset event, TunnelHandler& handler);
  Result<void> take_heartbeat(const v1::Heartbeat& heartbeat, TunnelHandler& handler);
  std::shared_ptr<ChannelState> add_channel(wire::ChannelId id);
  ChannelState* find_channel(wire::ChannelId id);

  const wire::Side side_;
  const std::unique_ptr<Carrier> carrier_;
  AsyncClock& clock_;
  Random& random_;
  const Executor executor_;
  wire::Mux mux_;
  std::optional<wire::Heartbeats> heartbeats_;
  std::optional<wire::HubClock> hub_clock_;
  // Those that an owner still holds.
  std::map<wire::ChannelId, std::shared_ptr<ChannelState>> channels_;
  bool is_sending_ = false;  // half a message may be out
  std::uint64_t interactive_frames_ = 0;
  TimePoint interactive_until_ = TimePoint::min();
  std::set<Bytes> awaited_probes_;  // nonces that were not answered
  std::optional<Error> closing_;    // close() was called
  std::optional<Error> end_;
  Event output_;  // pulsed: the multiplexer may have something to send
  Event probe_changed_;
  Event closing_event_;
  Event flushed_;  // what was queued at close() has left
};

}  // namespace outhaul::transport
