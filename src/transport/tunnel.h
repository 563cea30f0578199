// Tunnel: one session over one carrier, and its channels. It drives the pure machines of wire/session and
// wire/mux with a reader, a writer and a heartbeat coroutine on one strand, and all its time comes from
// the AsyncClock. Channels end with the session; what must survive is a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async_clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/task.h"
#include "outhaul/v1/session.pb.h"
#include "transport/carrier.h"
#include "transport/channel.h"
#include "wire/mux.h"
#include "wire/session.h"
#include "wire/target.h"

namespace outhaul::transport {

class TunnelCore;  // tunnel_core.h

// A channel that the peer asks for. Destroyed without an answer it is refused with `unavailable`.
class IncomingChannel {
 public:
  IncomingChannel(std::shared_ptr<ChannelState> state, wire::ChannelTarget target, v1::Open open)
      : state_(std::move(state)), target_(std::move(target)), open_(std::move(open)) {}
  IncomingChannel(IncomingChannel&&) noexcept = default;
  IncomingChannel& operator=(IncomingChannel&&) = delete;
  ~IncomingChannel();

  const wire::ChannelTarget& target() const { return target_; }
  const v1::Open& open() const { return open_; }
  // Exactly one of the two. May come later than on_open(); the peer may have gone by then, which the
  // Channel reports.
  Channel accept(v1::Accept accept = {});
  void refuse(const Error& error);

 private:
  std::shared_ptr<ChannelState> state_;  // as in Channel
  wire::ChannelTarget target_;
  v1::Open open_;
};

// What the owner of a tunnel does with what arrives. Called on the tunnel's strand; must not block. A
// handler that needs to wait spawns into its own TaskGroup.
class TunnelHandler {
 public:
  virtual ~TunnelHandler() = default;
  // Every Control that is not the session's own (heartbeats, probes and Goodbye are handled inside).
  virtual void on_control(const v1::Control& message) = 0;
  virtual void on_open(IncomingChannel incoming) = 0;
  // A heartbeat of the peer, with its load (empty from a hub).
  virtual void on_heartbeat(const v1::Heartbeat& heartbeat) { static_cast<void>(heartbeat); }
  // What our own heartbeats say; the hub's is empty.
  virtual v1::Load load() { return {}; }
  // The signed head of our audit log that the next heartbeat carries; empty: it has not grown.
  virtual Bytes audit_head() { return {}; }
};

class Tunnel {
 public:
  Tunnel(Tunnel&&) noexcept;
  Tunnel& operator=(Tunnel&&) = delete;
  ~Tunnel();

  // Drives the session until it ends and gives the reason: session_lost (link broken or peer dead),
  // protocol_violation, the peer's Goodbye, or what close() was given. Every channel has failed by then.
  // Called once. Cancellation closes the carrier and unwinds. `handler` outlives the call.
  Task<Error> run(TunnelHandler& handler);

  // Fails with `exhausted` (4096 channels), `invalid` for a plane that this side does not open, and
  // session_lost. `open.plane` and `open.target` are set from `target`; `open.initial_credit` is ours too.
  Result<Channel> open(const wire::ChannelTarget& target, v1::Open open);
  // Queues one message of channel 0, ahead of all channels' bytes. `exhausted` when 4 MiB wait.
  Result<void> send_control(const v1::Control& message);
  // True when the peer answers a Probe before `deadline`.
  Task<bool> probe(TimePoint deadline);
  // Sends Goodbye with this reason, waits up to a second for it to leave, and ends run(). Does not wait.
  // A `retry_after_ns` detail of the reason travels in Goodbye.
  void close(Error reason);

  const CarrierPeer& peer() const;
  // The node's estimate of the hub's clock minus its own; empty on the hub's side.
  std::optional<std::chrono::nanoseconds> hub_offset() const;

 private:
  friend struct TunnelAccess;
  explicit Tunnel(std::shared_ptr<TunnelCore> core);
  // Shared with the coroutines of run() and probe(), which may be unwinding when their Tunnel goes.
  std::shared_ptr<TunnelCore> core_;
};

// Clock and random of both sides; both outlive the tunnel.
struct TunnelPorts {
  AsyncClock& clock;
  Random& random;
};

// The hub's decisions during a handshake.
class TunnelAdmission {
 public:
  virtual ~TunnelAdmission() = default;
  // Whether this node, whose Hello has been verified, may have a session. Fills session id, epoch, keys,
  // positions and drain; the session adds the rest. A failure is sent as Goodbye (detail retry_after_ns is
  // obeyed by the node). Bounded by the handshake's limit.
  virtual Task<Result<v1::Welcome>> admit(const wire::HelloFacts& facts, const CarrierPeer& peer) = 0;
  // The tunnel did not come to life although admit() had said yes: undo it.
  virtual void abandon(const wire::HelloFacts& facts, const v1::Welcome& welcome) = 0;
};

struct AcceptedTunnel {
  Tunnel tunnel;
  wire::HelloFacts facts;
  v1::Welcome welcome;
};
// The hub's handshake. On failure Goodbye was sent and the carrier closed. `config.hub_spki` is taken from
// the carrier.
Task<Result<AcceptedTunnel>> accept_tunnel(std::unique_ptr<Carrier> carrier, wire::HubSession::Config config,
                                           TunnelAdmission& admission, TunnelPorts ports);

struct DialledTunnel {
  Tunnel tunnel;
  wire::WelcomeFacts facts;
};
// The node's handshake. `hello` holds version, ids, manifest, slots, positions and tasks; the rest is
// filled in. A Goodbye becomes the Error it names, with detail retry_after_ns when it had one.
Task<Result<DialledTunnel>> dial_tunnel(std::unique_ptr<Carrier> carrier, wire::NodeSession::Config config,
                                        const wire::HelloSigner& signer, v1::Hello hello, TunnelPorts ports);

// How a wait that a Goodbye asks for travels in an Error.
inline constexpr std::string_view retry_after_detail = "retry_after_ns";
Error with_retry_after(Error error, Duration wait);
std::optional<Duration> retry_after_of(const Error& error);  // empty when it names none
// The Error that a peer's Goodbye stands for.
Error error_of_goodbye(const v1::Goodbye& goodbye);

}  // namespace outhaul::transport
