#include "transport/tunnel.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <random>

#include <boost/asio/io_context.hpp>

#include "base/task_group.h"
#include "testing/manual_clock.h"
#include "testing/memory_carrier.h"
#include "testing/test_keys.h"

namespace outhaul::transport {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;
using testing::run_ready;

// Keeps what it is told; opens are handed to `answer`.
class RecordingHandler final : public TunnelHandler {
 public:
  void on_control(const v1::Control& message) override { controls.push_back(message); }
  void on_open(IncomingChannel incoming) override {
    opens.push_back(incoming.target().target().text());
    if (answer) answer(std::move(incoming));
  }
  void on_heartbeat(const v1::Heartbeat& heartbeat) override { beats.push_back(heartbeat); }
  v1::Load load() override {
    v1::Load load;
    load.set_slots(slots);
    return load;
  }

  std::vector<v1::Control> controls;
  std::vector<std::string> opens;
  std::vector<v1::Heartbeat> beats;
  std::function<void(IncomingChannel)> answer;
  unsigned slots = 0;
};

class Admission final : public TunnelAdmission {
 public:
  explicit Admission(ManualClock& clock) : clock_(clock) {}
  Task<Result<v1::Welcome>> admit(const wire::HelloFacts& facts, const CarrierPeer&) override {
    admitted.push_back(facts.node);
    if (delay > 0s) co_await clock_.sleep_for(delay);
    if (refusal) co_return fail(*refusal);
    v1::Welcome welcome;
    welcome.set_session_id(session_id);
    welcome.set_hub_epoch(3);
    co_return welcome;
  }
  void abandon(const wire::HelloFacts&, const v1::Welcome&) override { ++abandoned; }

  std::optional<Error> refusal;
  Duration delay{};
  std::string session_id = "ses_01hzzzzzzzzzzzzzzzzzzzzzzz";
  std::vector<NodeId> admitted;
  int abandoned = 0;

 private:
  ManualClock& clock_;
};

class TunnelTest : public ::testing::Test {
 protected:
  void TearDown() override {
    group->cancel();
    run();
    hub_tunnel.reset();
    node_tunnel.reset();
    run();
    group.reset();
  }
  void run() { run_ready(*io); }
  void pass(Duration span) {
    for (Duration done{}; done < span; done += 100ms) {
      clock.advance(100ms);
      run();
    }
  }

  void start_accepting() {
    const auto executor = io->get_executor();
    carriers = testing::make_memory_carriers(executor, keys.identity().uri());
    group->spawn([this]() -> Task<void> {
      wire::HubSession::Config config{.protocol = wire::spoken_protocol,
                                      .times = {},
                                      .deployment = deployment.name(),
                                      .hub_spki = {},
                                      .authorities = {deployment.certificate()}};
      auto accepted = co_await accept_tunnel(std::move(carriers->hub), std::move(config), admission, ports);
      if (accepted) {
        hub_tunnel = std::make_unique<Tunnel>(std::move(accepted->tunnel));
      } else {
        hub_failure = accepted.error();
      }
    });
  }
  void start_dialling() {
    group->spawn([this]() -> Task<void> {
      wire::NodeSession::Config config{.protocol = node_protocol, .times = {}, .observed_spki = {}};
      v1::Hello hello;
      hello.set_instance_id("ins_01hzzzzzzzzzzzzzzzzzzzzzzz");
      auto dialled =
          co_await dial_tunnel(std::move(carriers->node), std::move(config), keys, std::move(hello), ports);
      if (dialled) {
        node_tunnel = std::make_unique<Tunnel>(std::move(dialled->tunnel));
      } else {
        node_failure = dialled.error();
      }
    });
  }
  void run_tunnels() {
    group->spawn([this]() -> Task<void> { hub_end = co_await hub_tunnel->run(hub); });
    group->spawn([this]() -> Task<void> { node_end = co_await node_tunnel->run(node); });
    run();
  }
  void connect() {
    start_accepting();
    start_dialling();
    run();
    ASSERT_TRUE(hub_tunnel && node_tunnel);
    run_tunnels();
  }

  // The node accepts everything and keeps the channels.
  void accept_all() {
    node.answer = [this](IncomingChannel incoming) { node_channels.push_back(incoming.accept()); };
    hub.answer = [this](IncomingChannel incoming) { hub_channels.push_back(incoming.accept()); };
  }
  static wire::ChannelTarget task_target() {
    return wire::ChannelTarget::parse("task", "workspace:default").value();
  }
  static wire::ChannelTarget stream_target() {
    return wire::ChannelTarget::parse("stream", "stream:str_01hzzzzzzzzzzzzzzzzzzzzzzz").value();
  }
  // Sends in the background and finishes.
  void pump_out(Channel& channel, Bytes bytes, std::size_t piece) {
    group->spawn([&channel, all = std::move(bytes), piece]() -> Task<void> {
      for (std::size_t at = 0; at < all.size(); at += piece) {
        if (!co_await channel.send(all.substr(at, piece))) co_return;
      }
      channel.finish();
    });
  }
  void pump_in(Channel& channel, Bytes& into, std::optional<Error>& end, bool& is_done) {
    group->spawn([&]() -> Task<void> {
      for (;;) {
        auto chunk = co_await channel.receive();
        if (!chunk) {
          end = chunk.error();
          co_return;
        }
        if (!*chunk) {
          is_done = true;
          co_return;
        }
        into += **chunk;
      }
    });
  }

  ManualClock clock;
  std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>();
  std::unique_ptr<TaskGroup> group = std::make_unique<TaskGroup>(io->get_executor());
  testing::TestDeployment deployment;
  testing::TestNodeKeys keys = deployment.make_node();
  TunnelPorts ports{clock, deployment.random()};
  Admission admission{clock};
  wire::ProtocolRange node_protocol = wire::spoken_protocol;
  std::optional<testing::MemoryCarriers> carriers;
  RecordingHandler hub, node;
  std::unique_ptr<Tunnel> hub_tunnel, node_tunnel;
  std::optional<Error> hub_failure, node_failure, hub_end, node_end;
  std::deque<Channel> hub_channels, node_channels;
};

TEST_F(TunnelTest, WhenBothAreInOrder_ThenTheSessionBegins) {
  connect();

  EXPECT_EQ(admission.admitted, std::vector<NodeId>{keys.identity().node});
  EXPECT_EQ(admission.abandoned, 0);
  EXPECT_FALSE(hub_end || node_end);
  EXPECT_EQ(node_tunnel->hub_offset(), 0ns);
  EXPECT_FALSE(hub_tunnel->hub_offset().has_value());
}

// proves B10
TEST_F(TunnelTest, WhenVersionsDoNotMeet_ThenBothSidesNameBoth) {
  node_protocol = {{9, 1}, {9, 2}};
  start_accepting();
  start_dialling();
  run();

  for (const auto& failure : {hub_failure, node_failure}) {
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code(), ErrorCode::protocol_incompatible);
    EXPECT_NE(failure->what().find("1.0"), std::string::npos) << failure->what();
    EXPECT_NE(failure->what().find("9.1 to 9.2"), std::string::npos) << failure->what();
  }
}

TEST_F(TunnelTest, WhenTheHubRefuses_ThenTheNodeLearnsTheReasonAndWhenToReturn) {
  admission.refusal = with_retry_after(Error(ErrorCode::draining, "the hub shuts down"), 7s);
  start_accepting();
  start_dialling();
  run();

  ASSERT_TRUE(node_failure.has_value());
  EXPECT_EQ(node_failure->code(), ErrorCode::draining);
  EXPECT_EQ(retry_after_of(*node_failure), Duration(7s));
  EXPECT_EQ(admission.abandoned, 0);
}

TEST_F(TunnelTest, WhenNobodyAnswersTheChallenge_ThenTheHandshakeEndsAtItsLimit) {
  start_accepting();
  run();
  clock.advance(10s - 1ns);
  run();
  EXPECT_FALSE(hub_failure.has_value());

  clock.advance(1ns);
  run();

  ASSERT_TRUE(hub_failure.has_value());
  EXPECT_EQ(hub_failure->code(), ErrorCode::deadline_exceeded);
}

TEST_F(TunnelTest, WhenAdmissionTakesTooLong_ThenTheNodeIsToldAndNothingIsAbandoned) {
  admission.delay = 1min;
  start_accepting();
  start_dialling();
  run();
  clock.advance(10s);
  run();

  ASSERT_TRUE(hub_failure.has_value());
  EXPECT_EQ(hub_failure->code(), ErrorCode::deadline_exceeded);
  ASSERT_TRUE(node_failure.has_value());
  EXPECT_EQ(admission.abandoned, 0);
}

TEST_F(TunnelTest, WhenTheNodeLeavesDuringAdmission_ThenWhatWasAdmittedIsAbandoned) {
  admission.delay = 1s;
  start_accepting();
  start_dialling();
  run();
  carriers->link.cut();
  clock.advance(1s);
  run();

  EXPECT_TRUE(hub_failure.has_value());
  EXPECT_EQ(admission.abandoned, 1);
}

TEST_F(TunnelTest, WhenTheHubTakesATlsIdentityOfAnother_ThenTheNodeIsRefused) {
  const auto other = deployment.make_node();
  start_accepting();
  carriers = testing::make_memory_carriers(io->get_executor(), other.identity().uri());
  start_dialling();
  run();

  ASSERT_TRUE(node_failure.has_value());
  EXPECT_EQ(node_failure->code(), ErrorCode::unauthenticated);
}

TEST_F(TunnelTest, WhenAChannelIsOpened_ThenBytesFlowBothWaysAndEnd) {
  connect();
  accept_all();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  run();
  ASSERT_EQ(node_channels.size(), 1U);
  Bytes at_node, at_hub;
  std::optional<Error> node_error, hub_error;
  bool node_done = false, hub_done = false;
  const Bytes down(300'000, 'd'), up(500'000, 'u');
  pump_in(node_channels[0], at_node, node_error, node_done);
  pump_in(channel, at_hub, hub_error, hub_done);
  pump_out(channel, down, 1000);
  pump_out(node_channels[0], up, 70'000);
  run();

  EXPECT_TRUE(node_done && hub_done);
  EXPECT_EQ(at_node, down);
  EXPECT_EQ(at_hub, up);
}

TEST_F(TunnelTest, WhenAnOpenIsRefused_ThenEveryCallNamesTheReason) {
  connect();
  node.answer = [](IncomingChannel incoming) {
    incoming.refuse(Error(ErrorCode::node_full, "no free slot"));
  };
  auto channel = hub_tunnel->open(task_target(), {}).value();
  std::optional<ErrorCode> accepted, sent, received;
  group->spawn([&]() -> Task<void> {
    accepted = (co_await channel.accepted()).error().code();
    sent = (co_await channel.send("x")).error().code();
    received = (co_await channel.receive()).error().code();
  });
  run();

  EXPECT_EQ(accepted, ErrorCode::node_full);
  EXPECT_EQ(sent, ErrorCode::node_full);
  EXPECT_EQ(received, ErrorCode::node_full);
  EXPECT_FALSE(channel.is_live());
}

TEST_F(TunnelTest, WhenNobodyAnswersAnOpen_ThenItIsRefusedAsUnavailable) {
  connect();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  std::optional<ErrorCode> accepted;
  group->spawn([&]() -> Task<void> { accepted = (co_await channel.accepted()).error().code(); });
  run();

  EXPECT_EQ(accepted, ErrorCode::unavailable);
}

TEST_F(TunnelTest, WhenAnAnswerCarriesFacts_ThenTheOpenerReadsThem) {
  connect();
  node.answer = [this](IncomingChannel incoming) {
    v1::Accept accept;
    accept.set_state("running");
    node_channels.push_back(incoming.accept(accept));
  };
  auto channel = hub_tunnel->open(task_target(), {}).value();
  std::string state;
  group->spawn([&]() -> Task<void> { state = (co_await channel.accepted()).value().state(); });
  run();

  EXPECT_EQ(state, "running");
}

// proves B7
TEST_F(TunnelTest, WhenASideOpensAForeignPlane_ThenItIsNotEvenSent) {
  connect();
  const auto relay = wire::ChannelTarget::parse("relay", "relay:git").value();
  const auto sent = carriers->link.messages_sent();

  EXPECT_EQ(hub_tunnel->open(relay, {}).error().code(), ErrorCode::invalid);
  EXPECT_EQ(node_tunnel->open(task_target(), {}).error().code(), ErrorCode::invalid);
  run();
  EXPECT_EQ(carriers->link.messages_sent(), sent);
}

TEST_F(TunnelTest, WhenASenderIsFasterThanItsReader_ThenItWaits) {
  connect();
  accept_all();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  run();
  int sent = 0;
  group->spawn([&]() -> Task<void> {
    for (; sent < 100; ++sent) {
      if (!co_await channel.send(Bytes(64 * 1024, 'x'))) co_return;
    }
  });
  run();
  EXPECT_LT(sent, 10);

  Bytes received;
  std::optional<Error> error;
  bool is_done = false;
  pump_in(node_channels[0], received, error, is_done);
  run();

  EXPECT_EQ(sent, 100);
  EXPECT_EQ(received.size(), 100U * 64 * 1024);
}

// proves B4
TEST_F(TunnelTest, WhenOneChannelStalls_ThenAnotherGoesOn) {
  connect();
  accept_all();
  auto stalled = hub_tunnel->open(task_target(), {}).value();
  auto flowing = hub_tunnel->open(task_target(), {}).value();
  run();
  pump_out(stalled, Bytes(5'000'000, 's'), 50'000);
  run();
  Bytes received;
  std::optional<Error> error;
  bool is_done = false;
  pump_in(node_channels[1], received, error, is_done);
  pump_out(flowing, Bytes(3'000'000, 'f'), 50'000);
  run();

  EXPECT_TRUE(is_done);
  EXPECT_EQ(received.size(), 3'000'000U);
}

TEST_F(TunnelTest, WhenAHandleIsDropped_ThenThePeerSeesAReset) {
  connect();
  accept_all();
  auto channel = std::make_unique<Channel>(hub_tunnel->open(task_target(), {}).value());
  run();
  Bytes received;
  std::optional<Error> error;
  bool is_done = false;
  pump_in(node_channels[0], received, error, is_done);
  run();
  channel.reset();
  run();

  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::cancelled);
  EXPECT_FALSE(node_channels[0].is_live());
}

TEST_F(TunnelTest, WhenAFinishedHandleIsDropped_ThenWhatItSentStillArrives) {
  connect();
  accept_all();
  auto channel = std::make_unique<Channel>(hub_tunnel->open(task_target(), {}).value());
  run();
  Bytes bytes(200'000, 'x');
  ASSERT_TRUE(channel->try_send(bytes).value());
  channel->finish();
  channel.reset();
  Bytes received;
  std::optional<Error> error;
  bool is_done = false;
  pump_in(node_channels[0], received, error, is_done);
  run();

  EXPECT_TRUE(is_done);
  EXPECT_EQ(received.size(), 200'000U);
}

TEST_F(TunnelTest, WhenTheNodeOpensAStream_ThenItMaySendBeforeTheAnswer) {
  connect();
  std::optional<IncomingChannel> waiting;
  hub.answer = [&](IncomingChannel incoming) { waiting.emplace(std::move(incoming)); };
  auto channel = node_tunnel->open(stream_target(), {}).value();
  Bytes first = "first record";
  ASSERT_TRUE(channel.try_send(first).value());
  run();
  ASSERT_TRUE(waiting.has_value());
  auto at_hub = waiting->accept();
  Bytes received;
  group->spawn([&]() -> Task<void> { received = *(co_await at_hub.receive()).value(); });
  run();

  EXPECT_EQ(received, "first record");
}

TEST_F(TunnelTest, WhenControlIsSent_ThenTheHandlerGetsIt) {
  connect();
  v1::Control cancel;
  cancel.mutable_cancel_task()->set_task_id("task_x");
  ASSERT_TRUE(hub_tunnel->send_control(cancel).has_value());
  run();

  ASSERT_EQ(node.controls.size(), 1U);
  EXPECT_EQ(node.controls[0].cancel_task().task_id(), "task_x");
}

// proves A7
TEST_F(TunnelTest, WhenTimePasses_ThenHeartbeatsCarryLoad) {
  connect();
  node.slots = 4;
  pass(1min);

  ASSERT_GE(hub.beats.size(), 5U);
  EXPECT_EQ(hub.beats.back().load().slots(), 4U);
  EXPECT_GE(node.beats.size(), 5U);
  EXPECT_FALSE(hub_end || node_end);
}

// proves B5
// proves X32
TEST_F(TunnelTest, WhenTheLinkIsHalfOpen_ThenBothSidesNoticeInThirtySeconds) {
  connect();
  accept_all();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  run();
  carriers->link.set_half_open(true);
  std::optional<Error> error;
  Bytes received;
  bool is_done = false;
  pump_in(channel, received, error, is_done);
  pass(29s);
  EXPECT_FALSE(hub_end || node_end);

  pass(2s);

  for (const auto& end : {hub_end, node_end}) {
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->code(), ErrorCode::session_lost);
  }
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::session_lost);
}

TEST_F(TunnelTest, WhenTheLinkIsCut_ThenChannelsFailAndBothRunsEnd) {
  connect();
  accept_all();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  run();
  std::optional<Error> hub_error, node_error;
  Bytes bytes;
  bool is_done = false;
  pump_in(channel, bytes, hub_error, is_done);
  pump_in(node_channels[0], bytes, node_error, is_done);
  run();
  carriers->link.cut();
  run();

  for (const auto& end : {hub_end, node_end, hub_error, node_error}) {
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->code(), ErrorCode::session_lost);
  }
  EXPECT_EQ(hub_tunnel->open(task_target(), {}).error().code(), ErrorCode::session_lost);
  EXPECT_EQ(hub_tunnel->send_control({}).error().code(), ErrorCode::session_lost);
}

// An end that arrived with the session still alive is an end; one that nobody had read is a loss.
TEST_F(TunnelTest, WhenTheSessionEndsBeforeTheRestWasRead_ThenThatIsNoEndOfTheBytes) {
  connect();
  accept_all();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  run();
  pump_out(node_channels[0], "never read", 100);
  run();
  carriers->link.cut();
  run();
  std::optional<Error> error;
  Bytes received;
  bool is_done = false;
  pump_in(channel, received, error, is_done);
  run();

  EXPECT_FALSE(is_done);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::session_lost);
}

TEST_F(TunnelTest, WhenOneSideCloses_ThenTheOtherLearnsWhy) {
  connect();
  hub_tunnel->close(with_retry_after(Error(ErrorCode::draining, "back soon"), 2s));
  run();

  ASSERT_TRUE(node_end.has_value());
  EXPECT_EQ(node_end->code(), ErrorCode::draining);
  EXPECT_EQ(retry_after_of(*node_end), Duration(2s));
  ASSERT_TRUE(hub_end.has_value());
  EXPECT_EQ(hub_end->code(), ErrorCode::draining);
}

TEST_F(TunnelTest, WhenTheGoodbyeCannotLeave_ThenClosingEndsAfterASecond) {
  connect();
  carriers->link.set_held(true);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(hub_tunnel->send_control(v1::Control()).has_value());
    run();
  }
  hub_tunnel->close(Error(ErrorCode::draining, "back soon"));
  run();
  EXPECT_FALSE(hub_end.has_value());

  pass(1s);

  EXPECT_TRUE(hub_end.has_value());
}

// proves X31
TEST_F(TunnelTest, WhenThePeerIsProbed_ThenOnlyALiveOneAnswers) {
  connect();
  std::optional<bool> alive, silent;
  group->spawn([&]() -> Task<void> { alive = co_await hub_tunnel->probe(clock.now() + 3s); });
  run();
  EXPECT_EQ(alive, true);

  carriers->link.set_half_open(true);
  group->spawn([&]() -> Task<void> { silent = co_await hub_tunnel->probe(clock.now() + 3s); });
  pass(2900ms);
  EXPECT_FALSE(silent.has_value());
  pass(200ms);

  EXPECT_EQ(silent, false);
}

TEST_F(TunnelTest, WhenTheSessionEndsDuringAProbe_ThenNobodyAnswered) {
  connect();
  carriers->link.set_held(true);
  std::optional<bool> alive;
  group->spawn([&]() -> Task<void> { alive = co_await hub_tunnel->probe(clock.now() + 3s); });
  run();
  carriers->link.cut();
  run();

  EXPECT_EQ(alive, false);
}

TEST_F(TunnelTest, WhenTheOwnerIsCancelled_ThenTheTunnelUnwindsAndThePeerSeesTheLoss) {
  connect();
  accept_all();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  run();
  group->cancel();
  run();

  EXPECT_TRUE(group->is_idle());
  EXPECT_FALSE(channel.is_live());
}

TEST_F(TunnelTest, WhenTheProcessCrashes_ThenFramesAreDestroyedQuietly) {
  connect();
  accept_all();
  auto channel = hub_tunnel->open(task_target(), {}).value();
  run();
  Bytes received;
  std::optional<Error> error;
  bool is_done = false;
  pump_in(node_channels[0], received, error, is_done);
  run();

  io->stop();

  EXPECT_FALSE(hub_end || node_end);
}

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

// One session after another over links that are cut at random moments: what was read is always a prefix of
// what was sent, and a transfer that continues at the reader's count loses and repeats nothing.
TEST_F(TunnelTest, WhenLinksAreCutAtRandom_ThenATransferThatResumesIsByteExact) {
  std::mt19937 random(20260101);
  Bytes all(3'000'000, '\0');
  for (auto& byte : all) byte = static_cast<char>(random());
  Bytes received;
  int sessions = 0;
  for (bool is_done = false; !is_done && sessions < 500; ++sessions) {
    connect();
    accept_all();
    auto channel = node_tunnel->open(stream_target(), {}).value();
    run();
    std::optional<Error> error;
    pump_in(hub_channels.back(), received, error, is_done);
    pump_out(channel, all.substr(received.size()), 1 + random() % 40'000);
    for (auto steps = random() % 150; steps > 0; --steps) io->poll_one();
    carriers->link.cut();
    run();
    ASSERT_TRUE(all.starts_with(received));
    hub_channels.clear();
    hub_tunnel.reset();
    node_tunnel.reset();
    run();
  }

  EXPECT_EQ(received.size(), all.size());
  EXPECT_GT(sessions, 3);
}

}  // namespace
}  // namespace outhaul::transport
