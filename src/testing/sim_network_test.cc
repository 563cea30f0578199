#include "testing/sim_network.h"

#include <gtest/gtest.h>

#include "base/task_group.h"

namespace outhaul::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// One hub that keeps every connection, one node; each reads whatever comes.
class SimNetworkTest : public ::testing::Test {
 protected:
  struct Ear {
    std::unique_ptr<transport::Carrier> carrier;
    std::vector<Bytes> heard;
    std::optional<Error> end;
  };

  SimNetworkTest() {
    network.listen("hub", hub, "spki",
                   [this](auto carrier) { listen(hub_group, hub_ears, std::move(carrier)); });
    dialer = network.make_dialer(node, "node", "spiffe://x/node/y");
  }
  ~SimNetworkTest() override {
    hub->destroy_frames();
    node->destroy_frames();
  }

  void listen(TaskGroup& group, std::deque<Ear>& ears, std::unique_ptr<transport::Carrier> carrier) {
    auto& ear = ears.emplace_back(std::move(carrier));
    group.spawn([&ear] { return hear(ear); });
  }
  static Task<void> hear(Ear& ear) {
    for (;;) {
      auto message = co_await ear.carrier->receive();
      if (!message) {
        ear.end = message.error();
        co_return;
      }
      ear.heard.push_back(std::move(*message));
    }
  }
  void dial() {
    node_group.spawn([this]() -> Task<void> {
      auto carrier = co_await dialer->dial();
      if (carrier) {
        listen(node_group, node_ears, std::move(*carrier));
      } else {
        refusal = carrier.error();
      }
    });
    pass(seconds(15));
  }
  void send(TaskGroup& group, transport::Carrier& carrier, Bytes message) {
    group.spawn([&carrier, held = std::move(message)]() -> Task<void> {
      static_cast<void>(co_await carrier.send(held));
    });
    (&group == &hub_group ? hub : node)->drain();
  }
  void pass(Duration span) {
    node->drain();
    world.run_until(world.now() + span);
  }

  SimWorld world;
  SimNetwork network{world, 1};
  std::shared_ptr<SimProcess> hub = SimProcess::make(world, "hub", seconds(0));
  std::shared_ptr<SimProcess> node = SimProcess::make(world, "node", seconds(0));
  TaskGroup hub_group{hub->executor()};
  TaskGroup node_group{node->executor()};
  std::unique_ptr<node::CarrierDialer> dialer;
  std::deque<Ear> hub_ears;
  std::deque<Ear> node_ears;
  std::optional<Error> refusal;
};

TEST_F(SimNetworkTest, WhenConnected_ThenBothSidesKnowTheOtherAndMessagesComeInOrder) {
  dial();

  for (int i = 0; i < 20; ++i) send(node_group, *node_ears.at(0).carrier, std::to_string(i));
  pass(minutes(1));

  ASSERT_EQ(hub_ears.size(), 1U);
  EXPECT_EQ(hub_ears[0].carrier->peer().tls_uri, "spiffe://x/node/y");
  EXPECT_EQ(node_ears[0].carrier->peer().hub_spki, "spki");
  ASSERT_EQ(hub_ears[0].heard.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(hub_ears[0].heard[i], std::to_string(i));
}

TEST_F(SimNetworkTest, WhenCut_ThenBothEndsFailAndTheTailIsLost) {
  dial();
  send(node_group, *node_ears.at(0).carrier, "lost");

  network.cut("node");
  pass(minutes(1));

  EXPECT_TRUE(hub_ears.at(0).heard.empty());
  EXPECT_EQ(hub_ears[0].end->code(), ErrorCode::unavailable);
  EXPECT_EQ(node_ears[0].end->code(), ErrorCode::unavailable);
}

TEST_F(SimNetworkTest, WhenSilenceHolds_ThenNothingComesAndNobodyIsToldUntilItEnds) {
  dial();
  network.set_silent("node", SimSilence::hold);
  send(node_group, *node_ears.at(0).carrier, "late");

  pass(minutes(2));
  const auto heard_in_silence = hub_ears.at(0).heard.size();
  network.end_silence("node");
  pass(seconds(1));

  EXPECT_EQ(heard_in_silence, 0U);
  EXPECT_FALSE(hub_ears[0].end.has_value());
  EXPECT_EQ(hub_ears[0].heard, std::vector<Bytes>{"late"});
}

TEST_F(SimNetworkTest, WhenSilenceSwallows_ThenTheConnectionIsDeafForGoodAndANewOneIsNot) {
  dial();
  network.set_silent("node", SimSilence::swallow);
  send(node_group, *node_ears.at(0).carrier, "swallowed");
  pass(seconds(9));
  network.end_silence("node");

  send(node_group, *node_ears[0].carrier, "deaf");
  EXPECT_FALSE(network.does_pass("node"));
  dial();
  EXPECT_TRUE(network.does_pass("node"));
  send(node_group, *node_ears.at(1).carrier, "heard");
  pass(minutes(1));

  EXPECT_TRUE(hub_ears.at(0).heard.empty());
  EXPECT_FALSE(hub_ears[0].end.has_value());
  EXPECT_EQ(hub_ears.at(1).heard, std::vector<Bytes>{"heard"});
}

TEST_F(SimNetworkTest, WhenTheWayIsSilent_ThenADialGetsNoAnswer) {
  network.set_silent("node", SimSilence::hold);

  dial();

  EXPECT_EQ(refusal->code(), ErrorCode::deadline_exceeded);
}

TEST_F(SimNetworkTest, WhenTheListenerWasKilled_ThenItsPeerHearsTheRestAndDialsAreRefused) {
  dial();
  send(hub_group, *hub_ears.at(0).carrier, "last words");

  network.deaden(*hub, SimNetwork::Death::killed);
  hub->destroy_frames();
  pass(minutes(1));
  dial();

  EXPECT_EQ(node_ears.at(0).heard, std::vector<Bytes>{"last words"});
  EXPECT_EQ(node_ears[0].end->code(), ErrorCode::unavailable);
  EXPECT_EQ(refusal->code(), ErrorCode::unavailable);
}

TEST_F(SimNetworkTest, WhenTheListenerLostPower_ThenItsPeerIsToldLater) {
  dial();

  network.deaden(*hub, SimNetwork::Death::no_power);
  hub->destroy_frames();
  pass(std::chrono::milliseconds(900));
  const bool was_told_at_once = node_ears.at(0).end.has_value();
  pass(minutes(2));

  EXPECT_FALSE(was_told_at_once);
  EXPECT_EQ(node_ears[0].end->code(), ErrorCode::unavailable);
}

TEST_F(SimNetworkTest, WhenRoutedElsewhere_ThenOnlyNewConnectionsGoThere) {
  int rogue_connections = 0;
  network.listen("rogue", hub, "spki", [&](auto) { ++rogue_connections; });
  dial();

  network.route("node", "rogue");
  dial();

  EXPECT_EQ(hub_ears.size(), 1U);
  EXPECT_EQ(rogue_connections, 1);
}

}  // namespace
}  // namespace outhaul::testing
