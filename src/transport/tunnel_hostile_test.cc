// What a peer of another make may send, and that only what it must end ends.
#include <gtest/gtest.h>

#include "testing/tunnel_fixture.h"

namespace outhaul::transport {
namespace {

// Sends what no peer of ours would send, from the other end of the carrier.
class HostilePeer : public TunnelTest {
 protected:
  void welcome_node() {
    carriers = testing::make_memory_carriers(io->get_executor(), keys.identity().uri());
    start_dialling();
    v1::Control challenge;
    *challenge.mutable_challenge() =
        wire::HubSession({}, deployment.random().bytes(wire::HubSession::nonce_bytes),
                         {clock.now(), clock.wall_now()})
            .challenge();
    challenge.mutable_challenge()->mutable_protocol()->mutable_oldest()->set_major(1);
    say(challenge);
    run();
    v1::Control welcome;
    welcome.mutable_welcome()->set_session_id(admission.session_id);
    welcome.mutable_welcome()->mutable_protocol()->set_major(1);
    welcome.mutable_welcome()->set_heartbeat_interval_ns(10'000'000'000);
    welcome.mutable_welcome()->set_dead_after_ns(30'000'000'000);
    say(welcome);
    run();
    ASSERT_TRUE(node_tunnel != nullptr);
    group->spawn([this]() -> Task<void> { node_end = co_await node_tunnel->run(node); });
    run();
  }
  void say(const v1::Control& control) {
    ASSERT_TRUE(hub_mux.send_control(control).has_value());
    say(hub_mux.take_output());
  }
  void say(Bytes message) {
    group->spawn([this, bytes = std::move(message)]() -> Task<void> { co_await hear(bytes); });
    run();
  }
  Task<void> hear(Bytes message) { (void)co_await carriers->hub->send(std::move(message)); }
  // What the node says until it is silent.
  std::vector<v1::Control> listen() {
    group->spawn([this]() -> Task<void> {
      for (;;) {
        auto message = co_await carriers->hub->receive();
        if (!message) co_return;
        (void)hub_mux.receive(*message);
      }
    });
    run();
    std::vector<v1::Control> said;
    while (auto event = hub_mux.take_event()) {
      if (auto* const control = std::get_if<wire::ControlArrived>(&*event)) said.push_back(control->message);
      if (auto* const refused = std::get_if<wire::ChannelRefused>(&*event))
        refusals.push_back(refused->refuse);
    }
    return said;
  }

  wire::Mux hub_mux{wire::Side::hub};
  std::vector<v1::Refuse> refusals;
};

TEST_F(HostilePeer, WhenItBreaksAFrame_ThenItIsToldAndTheSessionEnds) {
  welcome_node();
  say("this is no frame");
  const auto said = listen();
  pass(1s);

  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back().goodbye().code(), "protocol_violation");
  ASSERT_TRUE(node_end.has_value());
  EXPECT_EQ(node_end->code(), ErrorCode::protocol_violation);
}

TEST_F(HostilePeer, WhenItShakesHandsAgain_ThenTheSessionEnds) {
  welcome_node();
  v1::Control challenge;
  challenge.mutable_challenge()->set_nonce(Bytes(32, 'n'));
  say(challenge);
  pass(1s);

  ASSERT_TRUE(node_end.has_value());
  EXPECT_EQ(node_end->code(), ErrorCode::protocol_violation);
}

TEST_F(HostilePeer, WhenItSaysWhatANewerPeerMightSay_ThenNothingHappens) {
  welcome_node();
  say(v1::Control());
  pass(1s);

  EXPECT_FALSE(node_end.has_value());
}

// proves B7
TEST_F(HostilePeer, WhenItNamesWhatNoTargetIs_ThenOnlyThatOpenIsRefused) {
  welcome_node();
  const std::vector<std::pair<std::string, std::string>> opens = {
      {"task", "ssh:sky141"},
      {"console", "tool:x"},
      {"task", "workspace:/etc"},
      {"task", "10.0.0.1:22"},
      {"nonsense", "workspace:default"},
      {"", ""},
      {"relay", "relay:model"},
  };
  for (const auto& [plane, target] : opens) {
    v1::Open open;
    open.set_plane(plane);
    open.set_target(target);
    ASSERT_TRUE(hub_mux.open(open).has_value());
  }
  say(hub_mux.take_output());
  listen();

  EXPECT_EQ(refusals.size(), opens.size());
  EXPECT_TRUE(node.opens.empty());
  EXPECT_FALSE(node_end.has_value());
}

}  // namespace
}  // namespace outhaul::transport
