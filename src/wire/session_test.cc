#include "wire/session.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "testing/test_keys.h"

namespace outhaul::wire {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;
using testing::TestDeployment;

constexpr std::string_view spki = "the hub's public key";

v1::ProtocolRange range_message(ProtocolRange range) {
  v1::ProtocolRange message;
  message.mutable_oldest()->set_major(range.oldest.major);
  message.mutable_oldest()->set_minor(range.oldest.minor);
  message.mutable_newest()->set_major(range.newest.major);
  message.mutable_newest()->set_minor(range.newest.minor);
  return message;
}

// proves B10
TEST(Negotiate, WhenRangesMeet_ThenTheNewestCommonVersionIsTaken) {
  struct Row {
    ProtocolRange ours, theirs;
    std::optional<ProtocolVersion> agreed;
  };
  const std::vector<Row> rows = {
      {{{1, 0}, {1, 0}}, {{1, 0}, {1, 0}}, ProtocolVersion{1, 0}},
      {{{1, 1}, {1, 2}}, {{1, 0}, {1, 1}}, ProtocolVersion{1, 1}},
      {{{1, 0}, {1, 1}}, {{1, 1}, {1, 2}}, ProtocolVersion{1, 1}},
      {{{1, 4}, {2, 0}}, {{1, 3}, {1, 4}}, ProtocolVersion{1, 4}},
      {{{1, 2}, {1, 3}}, {{1, 0}, {1, 1}}, std::nullopt},
      {{{1, 0}, {1, 1}}, {{1, 2}, {1, 3}}, std::nullopt},
      {{{1, 0}, {1, 1}}, {{2, 0}, {2, 0}}, std::nullopt},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.ours.text() + " with " + row.theirs.text());

    const auto agreed = negotiate(row.ours, range_message(row.theirs));

    ASSERT_EQ(agreed.has_value(), row.agreed.has_value());
    if (row.agreed) {
      EXPECT_EQ(*agreed, *row.agreed);
    } else {
      EXPECT_EQ(agreed.error().code(), ErrorCode::protocol_incompatible);
      EXPECT_NE(agreed.error().what().find(row.ours.text()), std::string::npos);
      EXPECT_NE(agreed.error().what().find(row.theirs.text()), std::string::npos);
    }
  }
}

TEST(Negotiate, WhenARangeIsUpsideDown_ThenItIsAViolation) {
  const auto agreed = negotiate(spoken_protocol, range_message({{1, 1}, {1, 0}}));

  ASSERT_FALSE(agreed.has_value());
  EXPECT_EQ(agreed.error().code(), ErrorCode::protocol_violation);
}

class Handshake : public ::testing::Test {
 protected:
  Now now() const { return {clock.now(), clock.wall_now()}; }
  HubSession::Config hub_config() {
    return {.protocol = spoken_protocol,
            .times = {},
            .deployment = deployment.name(),
            .hub_spki = Bytes(spki),
            .authorities = {deployment.certificate()}};
  }
  HubSession make_hub() { return {hub_config(), deployment.random().bytes(HubSession::nonce_bytes), now()}; }
  NodeSession make_node() {
    return {{.protocol = spoken_protocol, .times = {}, .observed_spki = Bytes(spki)}, keys, now()};
  }
  v1::Hello hello_facts() {
    v1::Hello hello;
    hello.set_instance_id(deployment.make_id<InstanceId>().text());
    hello.set_slots(4);
    return hello;
  }

  ManualClock clock;
  TestDeployment deployment;
  testing::TestNodeKeys keys = deployment.make_node();
};

TEST_F(Handshake, WhenBothAreInOrder_ThenEachLearnsTheOther) {
  auto hub = make_hub();
  auto node = make_node();
  const auto hello = node.receive_challenge(hub.challenge(), hello_facts(), now()).value();
  const auto facts = hub.receive_hello(hello, keys.identity().uri(), now());
  ASSERT_TRUE(facts.has_value()) << facts.error().what();
  v1::Welcome welcome;
  welcome.set_session_id(deployment.make_id<SessionId>().text());
  hub.complete_welcome(welcome, now());

  const auto welcomed = node.receive_welcome(welcome, now());

  EXPECT_EQ(facts->node, keys.identity().node);
  EXPECT_EQ(facts->instance.text(), hello.instance_id());
  EXPECT_EQ(facts->hello.slots(), 4U);
  ASSERT_TRUE(welcomed.has_value()) << welcomed.error().what();
  EXPECT_EQ(welcomed->session.text(), welcome.session_id());
  EXPECT_EQ(welcomed->times.heartbeat_interval, 10s);
  EXPECT_EQ(welcomed->times.dead_after, 30s);
}

TEST_F(Handshake, WhenTheCarrierGaveNoTlsIdentity_ThenTheSignatureAloneNamesTheNode) {
  auto hub = make_hub();
  const auto hello = make_node().receive_challenge(hub.challenge(), hello_facts(), now()).value();

  const auto facts = hub.receive_hello(hello, "", now());

  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->node, keys.identity().node);
}

// Each row spoils one thing of a Hello that would be taken.
TEST_F(Handshake, WhenAHelloIsNotInOrder_ThenItIsRefused) {
  TestDeployment foreign(2, "example.net");
  TestDeployment impostor(3);
  const auto foreign_node = foreign.make_node();
  const auto impostor_node = impostor.make_node();
  const auto other_node = deployment.make_node();
  const auto expired_node = deployment.make_node(1s);
  struct Row {
    const char* reason;
    std::function<void(v1::Hello&, std::string& tls_uri)> spoil;
    ErrorCode code;
  };
  const std::vector<Row> rows = {
      {"no instance", [](auto& hello, auto&) { hello.clear_instance_id(); }, ErrorCode::protocol_violation},
      {"instance of another form", [](auto& hello, auto&) { hello.set_instance_id("ins_1"); },
       ErrorCode::protocol_violation},
      {"clock before 1970", [](auto& hello, auto&) { hello.set_node_clock_ns(-1); },
       ErrorCode::protocol_violation},
      {"clock past all reason", [](auto& hello, auto&) { hello.set_node_clock_ns(INT64_MAX); },
       ErrorCode::protocol_violation},
      {"another version",
       [](auto& hello, auto&) {
         hello.mutable_protocol()->mutable_oldest()->set_major(9);
         hello.mutable_protocol()->mutable_newest()->set_major(9);
       },
       ErrorCode::protocol_incompatible},
      {"no version", [](auto& hello, auto&) { hello.clear_protocol(); }, ErrorCode::protocol_incompatible},
      {"no signature", [](auto& hello, auto&) { hello.clear_signature(); }, ErrorCode::unauthenticated},
      {"a flipped bit", [](auto& hello, auto&) { hello.mutable_signature()->front() ^= 1; },
       ErrorCode::unauthenticated},
      {"a cut signature", [](auto& hello, auto&) { hello.mutable_signature()->pop_back(); },
       ErrorCode::unauthenticated},
      {"no certificate", [](auto& hello, auto&) { hello.clear_signing_certificate(); },
       ErrorCode::certificate_invalid},
      {"a certificate that is none", [](auto& hello, auto&) { hello.set_signing_certificate("x"); },
       ErrorCode::certificate_invalid},
      {"the authority's own certificate",
       [&](auto& hello, auto&) { hello.set_signing_certificate(deployment.certificate().der()); },
       ErrorCode::certificate_invalid},
      {"another node's certificate",
       [&](auto& hello, auto& uri) {
         hello.set_signing_certificate(other_node.signing_certificate());
         uri = other_node.identity().uri();
       },
       ErrorCode::unauthenticated},
      {"another authority",
       [&](auto& hello, auto&) { hello.set_signing_certificate(impostor_node.signing_certificate()); },
       ErrorCode::certificate_invalid},
      {"another deployment",
       [&](auto& hello, auto&) { hello.set_signing_certificate(foreign_node.signing_certificate()); },
       ErrorCode::certificate_invalid},
      {"an expired certificate",
       [&](auto& hello, auto&) { hello.set_signing_certificate(expired_node.signing_certificate()); },
       ErrorCode::certificate_invalid},
      {"TLS says another node", [&](auto&, auto& uri) { uri = other_node.identity().uri(); },
       ErrorCode::unauthenticated},
  };
  clock.advance(10s);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    auto hub = make_hub();
    auto hello = make_node().receive_challenge(hub.challenge(), hello_facts(), now()).value();
    auto uri = keys.identity().uri();
    row.spoil(hello, uri);

    const auto facts = hub.receive_hello(hello, uri, now());

    ASSERT_FALSE(facts.has_value());
    EXPECT_EQ(facts.error().code(), row.code) << facts.error().what();
  }
}

TEST_F(Handshake, WhenTheNodeSawAnotherHub_ThenAForwardedHelloIsRefused) {
  auto hub = make_hub();
  NodeSession node({.protocol = spoken_protocol, .times = {}, .observed_spki = "a man in the middle"}, keys,
                   now());
  const auto hello = node.receive_challenge(hub.challenge(), hello_facts(), now()).value();

  const auto facts = hub.receive_hello(hello, keys.identity().uri(), now());

  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code(), ErrorCode::unauthenticated);
}

TEST_F(Handshake, WhenAHelloIsReplayedIntoAnotherSession_ThenItIsRefused) {
  auto hub = make_hub();
  const auto hello = make_node().receive_challenge(hub.challenge(), hello_facts(), now()).value();
  auto next = make_hub();

  const auto facts = next.receive_hello(hello, keys.identity().uri(), now());

  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code(), ErrorCode::unauthenticated);
}

TEST_F(Handshake, WhenAChallengeIsNotInOrder_ThenTheNodeRefusesIt) {
  auto short_nonce = make_hub().challenge();
  short_nonce.set_nonce("short");
  auto newer = make_hub().challenge();
  *newer.mutable_protocol() = range_message({{2, 0}, {2, 1}});

  EXPECT_EQ(make_node().receive_challenge(short_nonce, hello_facts(), now()).error().code(),
            ErrorCode::protocol_violation);
  EXPECT_EQ(make_node().receive_challenge(newer, hello_facts(), now()).error().code(),
            ErrorCode::protocol_incompatible);
}

TEST_F(Handshake, WhenAWelcomeIsNotInOrder_ThenTheNodeRefusesIt) {
  const std::vector<std::pair<const char*, std::function<void(v1::Welcome&)>>> rows = {
      {"a version that was not offered", [](auto& welcome) { welcome.mutable_protocol()->set_minor(7); }},
      {"no session", [](auto& welcome) { welcome.clear_session_id(); }},
      {"no heartbeats", [](auto& welcome) { welcome.clear_heartbeat_interval_ns(); }},
      {"heartbeats without pause", [](auto& welcome) { welcome.set_heartbeat_interval_ns(1); }},
      {"heartbeats once a day", [](auto& welcome) { welcome.set_heartbeat_interval_ns(86'400'000'000'000); }},
      {"dead before a heartbeat", [](auto& welcome) { welcome.set_dead_after_ns(5'000'000'000); }},
      {"never dead", [](auto& welcome) { welcome.set_dead_after_ns(INT64_MAX); }},
      {"a clock before 1970", [](auto& welcome) { welcome.set_sent_ns(INT64_MIN); }},
      {"a clock past all reason", [](auto& welcome) { welcome.set_hello_received_ns(INT64_MAX); }},
  };
  for (const auto& [reason, spoil] : rows) {
    SCOPED_TRACE(reason);
    auto hub = make_hub();
    auto node = make_node();
    ASSERT_TRUE(
        hub.receive_hello(node.receive_challenge(hub.challenge(), hello_facts(), now()).value(), "", now()));
    v1::Welcome welcome;
    welcome.set_session_id(deployment.make_id<SessionId>().text());
    hub.complete_welcome(welcome, now());
    spoil(welcome);

    const auto welcomed = node.receive_welcome(welcome, now());

    ASSERT_FALSE(welcomed.has_value());
    EXPECT_EQ(welcomed.error().code(), ErrorCode::protocol_violation);
  }
}

// proves X34
TEST_F(Handshake, WhenTheNodesClockIsOff_ThenTheOffsetIsMeasuredWithinHalfTheRoundTrip) {
  ManualClock node_clock(clock.wall_now() - 17min);
  const auto node_now = [&] { return Now{node_clock.now(), node_clock.wall_now()}; };
  const auto pass = [&](Duration span) {
    clock.advance(span);
    node_clock.advance(span);
  };
  auto hub = make_hub();
  NodeSession node({.protocol = spoken_protocol, .times = {}, .observed_spki = Bytes(spki)}, keys,
                   node_now());
  pass(40ms);
  const auto hello = node.receive_challenge(hub.challenge(), hello_facts(), node_now()).value();
  pass(30ms);
  const auto facts = hub.receive_hello(hello, "", now()).value();
  pass(3s);  // the hub asks its old session
  v1::Welcome welcome;
  welcome.set_session_id(deployment.make_id<SessionId>().text());
  hub.complete_welcome(welcome, now());
  pass(50ms);
  const auto welcomed = node.receive_welcome(welcome, node_now()).value();

  EXPECT_EQ(welcomed.round_trip, 80ms);
  EXPECT_LE(std::chrono::abs(welcomed.hub_clock.offset(node_now()) - 17min), 40ms);
  EXPECT_LE(std::chrono::abs(facts.node_offset + 17min), 40ms);
}

// proves X34
TEST(HubClock, WhenTheNodesClockIsStepped_ThenTheEstimateFollowsTheHub) {
  ManualClock clock;
  HubClock hub(clock.wall_now() + 2s, clock.now(), 10ms);
  clock.advance(1h);
  clock.step_wall(-17min);

  const auto offset = hub.offset({clock.now(), clock.wall_now()});

  EXPECT_EQ(offset, 17min + 2s);
}

TEST(HubClock, WhenALaterReadingIsVague_ThenOnlyAStepIsTaken) {
  ManualClock clock;
  const auto hub_wall = clock.wall_now();
  HubClock hub(hub_wall, clock.now(), 10ms);
  hub.refine(hub_wall - 1s, clock.now(), 2s);
  EXPECT_EQ(hub.offset({clock.now(), clock.wall_now()}), 0s);

  hub.refine(hub_wall + 5min, clock.now(), 2s);

  EXPECT_EQ(hub.offset({clock.now(), clock.wall_now()}), 5min);
}

class HeartbeatsTest : public ::testing::Test {
 protected:
  Now now() const { return {clock.now(), clock.wall_now()}; }
  ManualClock clock;
  Heartbeats ours{SessionTimes(), clock.now()};
  Heartbeats theirs{SessionTimes(), clock.now()};
};

// proves B5
TEST_F(HeartbeatsTest, WhenBothAnswer_ThenNeitherIsEverDead) {
  for (int i = 0; i < 100; ++i) {
    clock.advance(10s);
    EXPECT_EQ(ours.next_due(), clock.now());
    EXPECT_FALSE(ours.is_dead(clock.now()));
    const auto beat = ours.beat(now());
    ASSERT_TRUE(theirs.receive(beat, clock.now()).has_value());
    ASSERT_TRUE(ours.receive(theirs.beat(now()), clock.now()).has_value());
  }
}

// proves B5
TEST_F(HeartbeatsTest, WhenNothingArrives_ThenThePeerIsDeadAfterThirtySeconds) {
  clock.advance(30s - 1ns);
  EXPECT_FALSE(ours.is_dead(clock.now()));

  clock.advance(1ns);

  EXPECT_TRUE(ours.is_dead(clock.now()));
}

TEST_F(HeartbeatsTest, WhenThePeerTalksButNeverHearsUs_ThenItIsDeadToo) {
  for (int i = 0; i < 3; ++i) {
    clock.advance(10s);
    ours.beat(now());
    ASSERT_TRUE(ours.receive(theirs.beat(now()), clock.now()).has_value());
  }
  EXPECT_FALSE(ours.is_dead(clock.now()));

  clock.advance(10s);
  ASSERT_TRUE(ours.receive(theirs.beat(now()), clock.now()).has_value());

  EXPECT_TRUE(ours.is_dead(clock.now()));
}

TEST_F(HeartbeatsTest, WhenAHeartbeatIsImpossible_ThenItIsAViolation) {
  v1::Heartbeat answers_unsent;
  answers_unsent.set_sequence(1);
  answers_unsent.set_answers(5);
  v1::Heartbeat zero;
  v1::Heartbeat once;
  once.set_sequence(7);

  EXPECT_FALSE(ours.receive(answers_unsent, clock.now()).has_value());
  EXPECT_FALSE(ours.receive(zero, clock.now()).has_value());
  EXPECT_TRUE(ours.receive(once, clock.now()).has_value());
  EXPECT_FALSE(ours.receive(once, clock.now()).has_value());
}

}  // namespace
}  // namespace outhaul::wire
