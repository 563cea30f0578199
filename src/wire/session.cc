#include "wire/session.h"

#include <algorithm>

#include "base/assert.h"
#include "crypto/signing_key.h"
#include "crypto/statement.h"

namespace outhaul::wire {
namespace {

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

ProtocolVersion version_of(const v1::ProtocolVersion& message) { return {message.major(), message.minor()}; }

v1::ProtocolRange message_of(const ProtocolRange& range) {
  v1::ProtocolRange message;
  message.mutable_oldest()->set_major(range.oldest.major);
  message.mutable_oldest()->set_minor(range.oldest.minor);
  message.mutable_newest()->set_major(range.newest.major);
  message.mutable_newest()->set_minor(range.newest.minor);
  return message;
}

std::int64_t nanoseconds_of(Duration span) { return std::chrono::nanoseconds(span).count(); }

// The node obeys the hub's rhythm only within reason.
constexpr Duration least_interval = std::chrono::seconds(1);
constexpr Duration most_interval = std::chrono::minutes(10);
bool is_sane_interval(std::int64_t nanoseconds) {
  return nanoseconds >= nanoseconds_of(least_interval) && nanoseconds <= nanoseconds_of(most_interval);
}

// A wall clock of a peer that is used in arithmetic: years 1970 to 2200.
constexpr std::int64_t most_wall_ns = 7'258'118'400'000'000'000;
bool is_sane_clock(std::int64_t nanoseconds) { return nanoseconds >= 0 && nanoseconds <= most_wall_ns; }

}  // namespace

std::string ProtocolVersion::text() const { return std::to_string(major) + "." + std::to_string(minor); }
std::string ProtocolRange::text() const {
  return oldest == newest ? newest.text() : oldest.text() + " to " + newest.text();
}

Result<ProtocolVersion> negotiate(const ProtocolRange& ours, const v1::ProtocolRange& theirs) {
  const ProtocolRange range{version_of(theirs.oldest()), version_of(theirs.newest())};
  if (range.newest < range.oldest) return violation("protocol range: the newest is older than the oldest");
  const auto newest = std::min(ours.newest, range.newest);
  if (newest >= std::max(ours.oldest, range.oldest)) return newest;
  return fail(Error(ErrorCode::protocol_incompatible,
                    "this side speaks protocol " + ours.text() + ", the other " + range.text())
                  .with("ours", ours.text())
                  .with("theirs", range.text()));
}

HubSession::HubSession(Config config, Bytes nonce, Now now)
    : config_(std::move(config)), nonce_(std::move(nonce)), started_(now) {
  OUTHAUL_ASSERT(nonce_.size() == nonce_bytes);
}

v1::Challenge HubSession::challenge() const {
  v1::Challenge challenge;
  challenge.set_nonce(nonce_);
  *challenge.mutable_protocol() = message_of(config_.protocol);
  challenge.set_hub_clock_ns(started_.wall.nanoseconds);
  return challenge;
}

Result<HelloFacts> HubSession::receive_hello(const v1::Hello& hello, std::string_view tls_uri, Now now) {
  if (!is_sane_clock(hello.node_clock_ns())) return violation("hello: clock");
  const auto instance = InstanceId::parse(hello.instance_id());
  if (!instance) return violation("hello: instance id");
  OUTHAUL_TRY(protocol, negotiate(config_.protocol, hello.protocol()));
  OUTHAUL_TRY(identity, verify_identity(hello, tls_uri, now));
  protocol_ = protocol;
  hello_received_ = now.wall;
  HelloFacts facts;
  facts.node = identity.node;
  facts.instance = *instance;
  facts.protocol = protocol;
  facts.hello = hello;
  facts.received_at = now.wall;
  facts.round_trip = now.steady - started_.steady;
  // Hello left half a round trip ago, as far as anyone here can tell.
  facts.node_offset = WallTime{hello.node_clock_ns()} - (now.wall - facts.round_trip / 2);
  return facts;
}

Result<crypto::NodeIdentity> HubSession::verify_identity(const v1::Hello& hello, std::string_view tls_uri,
                                                         Now now) const {
  OUTHAUL_TRY(certificate, crypto::Certificate::parse_der(hello.signing_certificate()));
  OUTHAUL_CHECK(crypto::verify_certificate(certificate, config_.authorities, crypto::CertificateUse::signing,
                                           now.wall));
  OUTHAUL_TRY(identity, crypto::NodeIdentity::parse_uri(certificate.uri()));
  if (identity.deployment != config_.deployment) {
    return fail(ErrorCode::certificate_invalid, "hello: the signing certificate names another deployment");
  }
  if (!tls_uri.empty() && tls_uri != certificate.uri()) {
    return fail(ErrorCode::unauthenticated, "hello: TLS and the signing certificate name different nodes");
  }
  OUTHAUL_TRY(key, crypto::VerifyKey::parse(certificate.ed25519_key()));
  if (!key.verify(crypto::hello_statement(nonce_, config_.hub_spki), hello.signature())) {
    return fail(ErrorCode::unauthenticated,
                "hello: the signature does not hold for this challenge and this hub's certificate");
  }
  return identity;
}

void HubSession::complete_welcome(v1::Welcome& welcome, Now now) const {
  welcome.mutable_protocol()->set_major(protocol_.major);
  welcome.mutable_protocol()->set_minor(protocol_.minor);
  welcome.set_heartbeat_interval_ns(nanoseconds_of(config_.times.heartbeat_interval));
  welcome.set_dead_after_ns(nanoseconds_of(config_.times.dead_after));
  welcome.set_hello_received_ns(hello_received_.nanoseconds);
  welcome.set_sent_ns(now.wall.nanoseconds);
}

HubClock::HubClock(WallTime hub, TimePoint steady, Duration uncertainty)
    : hub_(hub), steady_(steady), uncertainty_(uncertainty) {}

void HubClock::refine(WallTime hub, TimePoint steady, Duration uncertainty) {
  const auto expected = hub_ + (steady - steady_);
  const auto difference = std::chrono::abs(hub - expected);
  // Within what both readings allow, the more certain one is better; outside, the hub's clock was stepped.
  if (uncertainty > uncertainty_ && difference <= uncertainty + uncertainty_) return;
  *this = HubClock(hub, steady, uncertainty);
}

std::chrono::nanoseconds HubClock::offset(Now now) const { return hub_ + (now.steady - steady_) - now.wall; }

NodeSession::NodeSession(Config config, const HelloSigner& signer, Now now)
    : config_(std::move(config)), signer_(signer), started_(now), hello_sent_(now) {}

Result<v1::Hello> NodeSession::receive_challenge(const v1::Challenge& challenge, v1::Hello hello, Now now) {
  if (challenge.nonce().size() != HubSession::nonce_bytes) return violation("challenge: nonce length");
  OUTHAUL_CHECK(negotiate(config_.protocol, challenge.protocol()));
  hello_sent_ = now;
  *hello.mutable_protocol() = message_of(config_.protocol);
  hello.set_node_clock_ns(now.wall.nanoseconds);
  hello.set_signature(signer_.sign_hello(challenge.nonce(), config_.observed_spki));
  hello.set_signing_certificate(signer_.signing_certificate());
  return hello;
}

Result<WelcomeFacts> NodeSession::receive_welcome(const v1::Welcome& welcome, Now now) const {
  const auto protocol = version_of(welcome.protocol());
  if (!config_.protocol.contains(protocol))
    return violation("welcome: a protocol version that was not offered");
  const auto session = SessionId::parse(welcome.session_id());
  if (!session) return violation("welcome: session id");
  if (!is_sane_interval(welcome.heartbeat_interval_ns()) || !is_sane_interval(welcome.dead_after_ns())) {
    return violation("welcome: heartbeat interval");
  }
  if (welcome.dead_after_ns() <= welcome.heartbeat_interval_ns())
    return violation("welcome: dead before a heartbeat");
  if (!is_sane_clock(welcome.hello_received_ns()) || !is_sane_clock(welcome.sent_ns()))
    return violation("welcome: clock");
  // What the hub spent between Hello and Welcome (a probe of 3 s, perhaps) is no part of the way.
  const Duration away = now.steady - hello_sent_.steady;
  const Duration at_hub = std::chrono::nanoseconds(welcome.sent_ns() - welcome.hello_received_ns());
  const auto round_trip = std::clamp(away - at_hub, Duration::zero(), away);
  auto times = config_.times;
  times.heartbeat_interval = std::chrono::nanoseconds(welcome.heartbeat_interval_ns());
  times.dead_after = std::chrono::nanoseconds(welcome.dead_after_ns());
  return WelcomeFacts{
      .session = *session,
      .protocol = protocol,
      .times = times,
      .hub_clock = HubClock(WallTime{welcome.sent_ns()} + round_trip / 2, now.steady, round_trip / 2),
      .round_trip = round_trip,
      .welcome = welcome};
}

Heartbeats::Heartbeats(SessionTimes times, TimePoint now)
    : times_(times), next_due_(now + times.heartbeat_interval), last_arrival_(now) {}

TimePoint Heartbeats::dead_at() const {
  const auto oldest = std::min(last_arrival_, unanswered_since_);
  return oldest + times_.dead_after;
}

v1::Heartbeat Heartbeats::beat(Now now) {
  next_due_ = now.steady + times_.heartbeat_interval;
  if (unanswered_since_ == TimePoint::max()) unanswered_since_ = now.steady;
  v1::Heartbeat heartbeat;
  heartbeat.set_sequence(++sent_);
  heartbeat.set_answers(peer_sequence_);
  heartbeat.set_clock_ns(now.wall.nanoseconds);
  return heartbeat;
}

Result<void> Heartbeats::receive(const v1::Heartbeat& heartbeat, TimePoint now) {
  if (heartbeat.answers() > sent_) return violation("heartbeat: answers what was never sent");
  if (heartbeat.sequence() <= peer_sequence_) return violation("heartbeat: sequence does not rise");
  last_arrival_ = now;
  peer_sequence_ = heartbeat.sequence();
  if (heartbeat.answers() > answered_) {
    answered_ = heartbeat.answers();
    // Later ones of ours may still be on the way; they count from now.
    unanswered_since_ = answered_ == sent_ ? TimePoint::max() : now;
  }
  return {};
}

}  // namespace outhaul::wire
