#include "transport/channel.h"

#include <gtest/gtest.h>

#include <random>

#include "testing/tunnel_fixture.h"

namespace outhaul::transport {
namespace {

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
