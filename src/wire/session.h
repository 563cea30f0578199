// The session on channel 0: who may speak, in which version, and when the other side is dead. Pure state
// machines; transport/tunnel drives them.
//
//   hub   Challenge ->                    -> Welcome or Goodbye
//   node             -> Hello
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "crypto/certificate.h"
#include "crypto/node_identity.h"
#include "crypto/signing_key.h"
#include "outhaul/v1/session.pb.h"

namespace outhaul::wire {

struct ProtocolVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  auto operator<=>(const ProtocolVersion&) const = default;
  std::string text() const;  // "1.0"
};
// Inclusive. A release speaks its own minor version and the one before.
struct ProtocolRange {
  ProtocolVersion oldest;
  ProtocolVersion newest;
  bool contains(ProtocolVersion version) const { return oldest <= version && version <= newest; }
  std::string text() const;  // "1.0 to 1.1"
};
inline constexpr ProtocolRange spoken_protocol{{1, 0}, {1, 0}};

// The newest version that both speak. Fails with protocol_incompatible; the message and the details
// "ours" and "theirs" name both ranges.
Result<ProtocolVersion> negotiate(const ProtocolRange& ours, const v1::ProtocolRange& theirs);

struct SessionTimes {
  Duration handshake_limit = std::chrono::seconds(10);  // from the carrier's start to Welcome
  Duration heartbeat_interval = std::chrono::seconds(10);
  Duration dead_after = std::chrono::seconds(30);
  Duration probe_limit = std::chrono::seconds(3);
};

// Both clocks of one side at one moment.
struct Now {
  TimePoint steady;
  WallTime wall;
};

// What a hub learns from a Hello whose signature holds.
struct HelloFacts {
  NodeId node;
  InstanceId instance;
  ProtocolVersion protocol;
  v1::Hello hello;  // version, manifest, slots, positions, live tasks
  WallTime received_at;
  std::chrono::nanoseconds node_offset{};  // node's clock minus hub's, within half a round trip
  Duration round_trip{};
};

// The hub's side of the handshake.
class HubSession {
 public:
  struct Config {
    ProtocolRange protocol = spoken_protocol;
    SessionTimes times;
    std::string deployment;
    Bytes hub_spki;                                // of the certificate shown on this carrier
    std::vector<crypto::Certificate> authorities;  // that certify signing keys
  };
  static constexpr std::size_t nonce_bytes = 32;

  // `nonce` is nonce_bytes of fresh random.
  HubSession(Config config, Bytes nonce, Now now);
  v1::Challenge challenge() const;
  // Checks, in this order: form, version, certificate, signature, that a TLS identity (empty: the carrier
  // gave none) names the same node. Fails with protocol_violation, protocol_incompatible,
  // certificate_invalid or unauthenticated. To be called once.
  Result<HelloFacts> receive_hello(const v1::Hello& hello, std::string_view tls_uri, Now now);
  // Fills the fields that the session itself knows: version, intervals, times.
  void complete_welcome(v1::Welcome& welcome, Now now) const;
  TimePoint handshake_deadline() const { return started_.steady + config_.times.handshake_limit; }

 private:
  Result<crypto::NodeIdentity> verify_identity(const v1::Hello& hello, std::string_view tls_uri,
                                               Now now) const;
  Config config_;
  Bytes nonce_;
  Now started_;
  WallTime hello_received_;
  ProtocolVersion protocol_;
};

// An estimate of the hub's clock that a step of the node's own clock does not disturb: it is kept against
// the node's monotonic clock.
class HubClock {
 public:
  // `hub` was read at `steady`, within `uncertainty` either way.
  HubClock(WallTime hub, TimePoint steady, Duration uncertainty);
  // A later reading: adopted when it is more certain, or differs by more than both uncertainties.
  void refine(WallTime hub, TimePoint steady, Duration uncertainty);
  // The hub's clock minus this wall clock, as of `now`.
  std::chrono::nanoseconds offset(Now now) const;
  Duration uncertainty() const { return uncertainty_; }

 private:
  WallTime hub_;
  TimePoint steady_;
  Duration uncertainty_;
};

// What a node knows after Welcome.
struct WelcomeFacts {
  SessionId session;
  ProtocolVersion protocol;
  SessionTimes times;  // intervals as the hub set them
  HubClock hub_clock;
  Duration round_trip{};
  v1::Welcome welcome;
};

// The node's certified key: it signs Hello here, and heads of the audit log and receipts where those are
// made. The node's identity implements it.
class HelloSigner {
 public:
  virtual ~HelloSigner() = default;
  // 64 bytes over crypto::hello_statement(nonce, hub_spki).
  virtual Bytes sign_hello(ByteView challenge_nonce, ByteView hub_spki) const = 0;
  virtual const crypto::SigningKey& signing_key() const = 0;
  // DER of the certificate of the signing key.
  virtual const Bytes& signing_certificate() const = 0;
};

// The node's side of the handshake.
class NodeSession {
 public:
  struct Config {
    ProtocolRange protocol = spoken_protocol;
    SessionTimes times;
    Bytes observed_spki;  // of the hub's certificate as this carrier saw it
  };
  NodeSession(Config config, const HelloSigner& signer, Now now);
  // Completes `hello` (whose facts the caller filled in) with version, clock, signature and certificate.
  // Fails with protocol_violation or protocol_incompatible.
  Result<v1::Hello> receive_challenge(const v1::Challenge& challenge, v1::Hello hello, Now now);
  // Fails with protocol_violation: a version we do not speak, intervals outside 1 s..10 min, a session id
  // of another form.
  Result<WelcomeFacts> receive_welcome(const v1::Welcome& welcome, Now now) const;
  TimePoint handshake_deadline() const { return started_.steady + config_.times.handshake_limit; }

 private:
  Config config_;
  const HelloSigner& signer_;
  Now started_;
  Now hello_sent_;
};

// Heartbeats of one side. Dead is: nothing arrived for dead_after, or a heartbeat of ours stayed
// unanswered for as long (the link drops one direction).
class Heartbeats {
 public:
  Heartbeats(SessionTimes times, TimePoint now);
  TimePoint next_due() const { return next_due_; }
  // The moment at which is_dead() turns true if nothing arrives.
  TimePoint dead_at() const;
  bool is_dead(TimePoint now) const { return now >= dead_at(); }
  // The heartbeat to send now, without load.
  v1::Heartbeat beat(Now now);
  void note_arrival(TimePoint now) { last_arrival_ = now; }
  // Fails with protocol_violation when it answers what was never sent.
  Result<void> receive(const v1::Heartbeat& heartbeat, TimePoint now);

 private:
  SessionTimes times_;
  TimePoint next_due_;
  TimePoint last_arrival_;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t peer_sequence_ = 0;
  TimePoint unanswered_since_ = TimePoint::max();  // when the oldest unanswered one was sent
};

}  // namespace outhaul::wire
