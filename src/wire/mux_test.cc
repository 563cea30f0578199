#include "wire/mux.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "wire/message.h"

namespace outhaul::wire {
namespace {

v1::Open task_open(bool interactive = false) {
  v1::Open open;
  open.set_plane("task");
  open.set_target("workspace:default");
  open.set_interactive(interactive);
  return open;
}

template <class Event>
std::vector<Event> take_events(Mux& mux) {
  std::vector<Event> taken;
  while (auto event = mux.take_event()) {
    if (auto* const wanted = std::get_if<Event>(&*event)) taken.push_back(std::move(*wanted));
  }
  return taken;
}

Bytes read_all(Mux& mux, ChannelId channel) {
  Bytes all;
  while (auto chunk = mux.read(channel)) all += *chunk;
  return all;
}

struct FrameSeen {
  ChannelId channel;
  FrameKind kind;
  std::size_t bytes;
};
std::vector<FrameSeen> frames_of(ByteView message) {
  std::vector<FrameSeen> seen;
  FrameReader reader(message);
  while (const auto frame = reader.next().value())
    seen.push_back({frame->channel, frame->kind, frame->payload.size()});
  return seen;
}

// Two ends and what lies between them; everything is delivered until nobody has more to say.
class MuxPair : public testing::Test {
 protected:
  static void deliver(Mux& from, Mux& to) {
    while (from.has_output()) {
      const auto message = from.take_output();
      if (message.empty()) break;
      ASSERT_LE(message.size(), max_message_bytes);
      const auto taken = to.receive(message);
      ASSERT_TRUE(taken.has_value()) << taken.error().what();
    }
  }
  void settle() {
    for (int i = 0; i < 1000 && (hub.has_output() || node.has_output()); ++i) {
      deliver(hub, node);
      deliver(node, hub);
    }
  }
  // A channel that the hub opened and the node accepted.
  ChannelId open_accepted(bool interactive = false) {
    const auto channel = hub.open(task_open(interactive)).value();
    deliver(hub, node);
    node.accept(channel, {});
    deliver(node, hub);
    take_events<ChannelOpened>(node);
    take_events<ChannelAccepted>(hub);
    return channel;
  }

  Mux hub{Side::hub};
  Mux node{Side::node};
};

TEST_F(MuxPair, WhenEachSideOpens_ThenIdsAreEvenAndOdd) {
  EXPECT_EQ(hub.open(task_open()).value(), 2U);
  EXPECT_EQ(hub.open(task_open()).value(), 4U);
  EXPECT_EQ(node.open(task_open()).value(), 1U);
  EXPECT_EQ(node.open(task_open()).value(), 3U);
}

TEST_F(MuxPair, WhenAChannelIsAccepted_ThenBytesFlowBothWaysAndItEnds) {
  const auto channel = hub.open(task_open()).value();
  deliver(hub, node);
  const auto opened = take_events<ChannelOpened>(node);
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_EQ(opened[0].open.target(), "workspace:default");
  v1::Accept accept;
  accept.set_state("accepted");
  node.accept(channel, accept);
  hub.send(channel, "to the node");
  node.send(channel, "to the hub");
  settle();

  const auto accepted = take_events<ChannelAccepted>(hub);
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_EQ(accepted[0].accept.state(), "accepted");
  EXPECT_EQ(read_all(node, channel), "to the node");
  EXPECT_EQ(read_all(hub, channel), "to the hub");
  hub.finish(channel);
  node.finish(channel);
  settle();

  EXPECT_EQ(hub.open_channels(), 0U);
  EXPECT_EQ(node.open_channels(), 0U);
  EXPECT_EQ(hub.total_window_bytes() + node.total_window_bytes(), 0U);
}

TEST_F(MuxPair, WhenOneSideFinishes_ThenWhatItSentCanStillBeRead) {
  const auto channel = open_accepted();
  hub.send(channel, "last words");
  hub.finish(channel);
  node.finish(channel);
  settle();

  ASSERT_EQ(take_events<ChannelFinished>(node).size(), 1U);
  EXPECT_EQ(node.open_channels(), 1U);
  EXPECT_EQ(read_all(node, channel), "last words");
  EXPECT_EQ(node.open_channels(), 0U);
}

TEST_F(MuxPair, WhenTheOpenerSendsAtOnce_ThenOnlyTheLeastWindowLeavesBeforeTheAnswer) {
  const auto channel = node.open(task_open()).value();
  const Bytes sent(100'000, 's');
  node.send(channel, sent);
  deliver(node, hub);

  EXPECT_EQ(node.total_queued_bytes(), sent.size() - min_window_bytes);
  hub.accept(channel, {});
  Bytes received;
  for (int i = 0; i < 10; ++i) {
    settle();
    received += read_all(hub, channel);
  }
  EXPECT_EQ(received, sent);
}

TEST_F(MuxPair, WhenAnOpenIsRefused_ThenTheReasonArrivesAndBothForgetIt) {
  const auto channel = hub.open(task_open()).value();
  hub.send(channel, Bytes(50'000, 'x'));
  deliver(hub, node);
  node.refuse(channel, refuse_of(Error(ErrorCode::node_full, "no free slot").with("slots", "2")));
  settle();

  const auto refused = take_events<ChannelRefused>(hub);
  ASSERT_EQ(refused.size(), 1U);
  const auto error = error_of(refused[0].refuse);
  EXPECT_EQ(error.code(), ErrorCode::node_full);
  EXPECT_EQ(error.details(), (std::vector<ErrorDetail>{{"slots", "2"}}));
  EXPECT_EQ(hub.open_channels() + node.open_channels(), 0U);
  EXPECT_EQ(hub.total_queued_bytes(), 0U);
}

TEST_F(MuxPair, WhenAChannelIsReset_ThenLateFramesAreToleratedAndBothForgetIt) {
  const auto channel = open_accepted();
  node.send(channel, Bytes(40'000, 'x'));
  const auto late = node.take_output();  // on the way while the hub gives up
  hub.reset(channel, ErrorCode::cancelled);
  ASSERT_TRUE(hub.receive(late).has_value());
  deliver(hub, node);
  const auto reset = take_events<ChannelReset>(node);
  settle();

  ASSERT_EQ(reset.size(), 1U);
  EXPECT_EQ(reset[0].code, ErrorCode::cancelled);
  EXPECT_EQ(hub.open_channels() + node.open_channels(), 0U);
  EXPECT_FALSE(hub.read(channel).has_value());
}

TEST_F(MuxPair, WhenBothResetAtOnce_ThenNeitherComplains) {
  const auto channel = open_accepted();
  hub.reset(channel, ErrorCode::cancelled);
  node.reset(channel, ErrorCode::internal);
  const auto from_hub = hub.take_output();
  const auto from_node = node.take_output();

  EXPECT_TRUE(hub.receive(from_node).has_value());
  EXPECT_TRUE(node.receive(from_hub).has_value());
  EXPECT_EQ(hub.open_channels() + node.open_channels(), 0U);
  EXPECT_FALSE(hub.has_output() || node.has_output());
}

TEST_F(MuxPair, WhenResetBeforeTheAnswer_ThenTheAnswerIsIgnored) {
  const auto channel = hub.open(task_open()).value();
  deliver(hub, node);
  hub.reset(channel, ErrorCode::cancelled);
  node.accept(channel, {});
  node.send(channel, "unwanted");
  settle();

  EXPECT_TRUE(take_events<ChannelAccepted>(hub).empty());
  EXPECT_EQ(hub.open_channels() + node.open_channels(), 0U);
}

TEST_F(MuxPair, WhenResetBeforeItsOpenLeft_ThenNothingIsSent) {
  const auto channel = hub.open(task_open()).value();

  hub.reset(channel, ErrorCode::cancelled);

  EXPECT_FALSE(hub.has_output());
  EXPECT_EQ(hub.open_channels(), 0U);
}

TEST_F(MuxPair, WhenResetWhileItsOpenLeavesInParts_ThenItIsCompletedAndReset) {
  auto open = task_open();
  open.mutable_envelope()->set_bytes(Bytes(100'000, 'e'));
  const auto channel = hub.open(open).value();
  ASSERT_TRUE(node.receive(hub.take_output()).has_value());
  hub.reset(channel, ErrorCode::cancelled);
  settle();

  EXPECT_EQ(take_events<ChannelReset>(node).size(), 1U);
  EXPECT_EQ(hub.open_channels() + node.open_channels(), 0U);
}

TEST_F(MuxPair, WhenAnUnansweredChannelIsGivenUp_ThenItIsRefused) {
  const auto channel = hub.open(task_open()).value();
  deliver(hub, node);
  node.reset(channel, ErrorCode::draining);
  settle();

  const auto refused = take_events<ChannelRefused>(hub);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(error_of(refused[0].refuse).code(), ErrorCode::draining);
}

TEST_F(MuxPair, WhenAnOpenIsLarge_ThenItGoesInPartsBetweenOtherFrames) {
  const auto busy = open_accepted();
  auto open = task_open();
  open.mutable_envelope()->set_bytes(Bytes(250'000, 'e'));
  hub.open(open).value();
  hub.send(busy, Bytes(40'000, 'b'));
  const auto message = hub.take_output();
  ASSERT_TRUE(node.receive(message).has_value());
  settle();

  const auto seen = frames_of(message);
  EXPECT_EQ(std::ranges::count(seen, FrameKind::open, &FrameSeen::kind), 1);
  EXPECT_GE(std::ranges::count(seen, FrameKind::data, &FrameSeen::kind), 2);
  const auto opened = take_events<ChannelOpened>(node);
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_EQ(opened[0].open.envelope().bytes(), open.envelope().bytes());
}

TEST_F(MuxPair, WhenAControlMessageIsLarge_ThenItArrivesWhole) {
  v1::Control sent;
  sent.mutable_challenge()->set_nonce(Bytes(200'000, 'n'));
  ASSERT_TRUE(hub.send_control(sent).has_value());
  settle();

  const auto arrived = take_events<ControlArrived>(node);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0].message.challenge().nonce(), sent.challenge().nonce());
}

// proves B4
TEST_F(MuxPair, WhenOneChannelIsNeverRead_ThenTheOthersGoOn) {
  const auto stalled = open_accepted();
  const auto flowing = open_accepted();
  hub.send(stalled, Bytes(10'000'000, 's'));
  Bytes received;
  for (int i = 0; i < 50; ++i) {
    hub.send(flowing, Bytes(64 * 1024, 'f'));
    settle();
    received += read_all(node, flowing);
    settle();
  }
  settle();
  received += read_all(node, flowing);

  EXPECT_EQ(received.size(), 50U * 64 * 1024);
  // The stalled one took its first window and no more.
  EXPECT_EQ(hub.total_queued_bytes(), 10'000'000U - 64 * 1024);
}

// proves B4
TEST_F(MuxPair, WhenABulkChannelHasMuchQueued_ThenAnInteractiveByteLeavesInTheNextMessage) {
  const auto bulk = open_accepted();
  const auto interactive = open_accepted(true);
  hub.send(bulk, Bytes(1'000'000, 'b'));
  hub.take_output();
  hub.send(interactive, "k");

  const auto seen = frames_of(hub.take_output());

  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen[0].channel, interactive);
  EXPECT_EQ(hub.interactive_frames(), 1U);
}

TEST_F(MuxPair, WhenInteractiveChannelsAreBusy_ThenTheOthersStillGetAFrameAMessage) {
  const auto bulk = open_accepted();
  const auto interactive = open_accepted(true);
  hub.send(bulk, Bytes(50'000, 'b'));
  hub.send(interactive, Bytes(50'000, 'i'));

  const auto seen = frames_of(hub.take_output());

  EXPECT_EQ(std::ranges::count(seen, interactive, &FrameSeen::channel), 3);
  EXPECT_EQ(std::ranges::count(seen, bulk, &FrameSeen::channel), 1);
}

TEST_F(MuxPair, WhenManyChannelsHaveBytes_ThenFramesTakeTurns) {
  const std::vector<ChannelId> channels = {open_accepted(), open_accepted(), open_accepted(),
                                           open_accepted()};
  for (const auto channel : channels) hub.send(channel, Bytes(60'000, 'x'));
  for (int i = 0; i < 2; ++i) {
    const auto seen = frames_of(hub.take_output());

    ASSERT_EQ(seen.size(), 4U);
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(seen[j].channel, channels[j]);
  }
}

TEST_F(MuxPair, WhenControlWaits_ThenItLeavesBeforeChannels) {
  const auto interactive = open_accepted(true);
  hub.send(interactive, "bytes");
  v1::Control control;
  control.mutable_probe()->set_nonce("n");
  ASSERT_TRUE(hub.send_control(control).has_value());

  EXPECT_EQ(frames_of(hub.take_output())[0].kind, FrameKind::control);
}

TEST_F(MuxPair, WhenManySmallPiecesAreSent_ThenTheyShareFrames) {
  const auto channel = open_accepted();
  for (int i = 0; i < 1000; ++i) hub.send(channel, "0123456789");

  const auto seen = frames_of(hub.take_output());

  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].bytes, 10'000U);
}

TEST_F(MuxPair, WhenTheReaderKeepsUp_ThenTheWindowGrowsAndIsBounded) {
  const auto channel = open_accepted();
  const auto before = node.total_window_bytes();
  std::size_t received = 0;
  for (int i = 0; i < 200; ++i) {
    hub.send(channel, Bytes(1024 * 1024, 'x'));
    for (int j = 0; j < 50; ++j) {
      deliver(hub, node);
      received += read_all(node, channel).size();
      deliver(node, hub);
    }
  }

  EXPECT_EQ(received, 200U * 1024 * 1024);
  EXPECT_GT(node.total_window_bytes(), before);
  EXPECT_LE(node.total_window_bytes(), 4U * 1024 * 1024);
}

TEST_F(MuxPair, WhenTheReaderIsSlow_ThenTheWindowStaysSmall) {
  const auto channel = open_accepted();
  hub.send(channel, Bytes(8 * 1024 * 1024, 'x'));
  for (int i = 0; i < 100; ++i) {
    settle();
    node.read(channel);
  }

  EXPECT_LE(node.total_window_bytes(), 256U * 1024);
}

TEST_F(MuxPair, WhenManyChannelsWantLargeWindows_ThenAllTogetherStayBounded) {
  std::vector<ChannelId> channels;
  for (int i = 0; i < 100; ++i) channels.push_back(open_accepted());
  for (int round = 0; round < 40; ++round) {
    for (const auto channel : channels) {
      if (hub.has_room(channel)) hub.send(channel, Bytes(256 * 1024, 'x'));
    }
    settle();
    for (const auto channel : channels) read_all(node, channel);
  }

  EXPECT_LE(node.total_window_bytes(), 16U * 1024 * 1024 + 100 * min_window_bytes);
  for (const auto channel : channels) hub.reset(channel, ErrorCode::cancelled);
  settle();
  EXPECT_EQ(node.total_window_bytes(), 0U);
}

TEST_F(MuxPair, WhenAQueueIsFull_ThenRoomIsToldOnceItDrains) {
  const auto channel = open_accepted();
  hub.send(channel, Bytes(256 * 1024, 'x'));
  EXPECT_FALSE(hub.has_room(channel));

  deliver(hub, node);

  EXPECT_EQ(take_events<ChannelWritable>(hub).size(), 1U);
  EXPECT_TRUE(hub.has_room(channel));
}

}  // namespace
}  // namespace outhaul::wire
