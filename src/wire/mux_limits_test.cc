// What a peer may not do, and how much of everything there may be.
#include "wire/mux.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "wire/message.h"

namespace outhaul::wire {
namespace {

v1::Open task_open() {
  v1::Open open;
  open.set_plane("task");
  open.set_target("workspace:default");
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

TEST(MuxRoom, WhenStalledChannelsFillTheTunnel_ThenAnotherStillGetsAFrame) {
  Mux hub(Side::hub, {.max_total_queued_bytes = 100'000});
  const auto stalled = hub.open(task_open()).value();
  const auto other = hub.open(task_open()).value();
  hub.send(stalled, Bytes(150'000, 'x'));

  EXPECT_FALSE(hub.has_room(stalled));
  EXPECT_TRUE(hub.has_room(other));
  hub.send(other, Bytes(20'000, 'x'));
  EXPECT_FALSE(hub.has_room(other));
}

TEST(MuxLimit, WhenTooManyChannelsAreOpen_ThenOpeningFails) {
  Mux hub(Side::hub, {.max_channels = 2});
  ASSERT_TRUE(hub.open(task_open()).has_value());
  ASSERT_TRUE(hub.open(task_open()).has_value());

  const auto third = hub.open(task_open());

  ASSERT_FALSE(third.has_value());
  EXPECT_EQ(third.error().code(), ErrorCode::exhausted);
}

TEST(MuxLimit, WhenThePeerOpensTooMany_ThenTheyAreRefusedAndFinallyAViolation) {
  Mux hub(Side::hub);
  Mux node(Side::node, {.max_channels = 4, .max_pending_opens = 2});
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(hub.open(task_open()).has_value());

  const auto taken = node.receive(hub.take_output());

  EXPECT_EQ(take_events<ChannelOpened>(node).size(), 2U);
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code(), ErrorCode::protocol_violation);
}

TEST(MuxLimit, WhenControlIsNotTaken_ThenItsQueueIsBounded) {
  Mux hub(Side::hub, {.max_queued_control_bytes = 1000});
  v1::Control control;
  control.mutable_probe()->set_nonce(Bytes(600, 'n'));
  ASSERT_TRUE(hub.send_control(control).has_value());

  const auto second = hub.send_control(control);

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), ErrorCode::exhausted);
}

TEST(MuxLimit, WhenThePeerProvokesAnswersWithoutReading_ThenItIsAViolation) {
  Mux node(Side::node, {.max_pending_opens = 0, .max_queued_control_bytes = 5000});
  const auto payload = task_open().SerializeAsString();
  Result<void> taken;
  for (ChannelId id = 2; taken && id < 2000; id += 2) {
    Bytes message;
    append_frame(message, {.channel = id, .kind = FrameKind::open, .payload = payload});
    append_reset(message, id, "cancelled");
    taken = node.receive(message);
  }

  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().what().find("does not read"), std::string::npos);
}

// Each row is one thing a peer may not do; the node has accepted channel 2 and opened channel 1.
TEST(MuxHostility, WhenThePeerBreaksARule_ThenItIsAViolation) {
  const auto open = task_open().SerializeAsString();
  const auto accept = [](std::uint32_t credit) {
    v1::Accept message;
    message.set_initial_credit(credit);
    return message.SerializeAsString();
  };
  const auto frame = [](ChannelId id, FrameKind kind, ByteView payload, bool more = false) {
    Bytes bytes;
    append_frame(bytes, {.channel = id, .kind = kind, .more_follows = more, .payload = payload});
    return bytes;
  };
  const auto credit = [](ChannelId id, std::uint32_t amount) {
    Bytes bytes;
    append_credit(bytes, id, amount);
    return bytes;
  };
  Bytes future_reset;
  append_reset(future_reset, 8, "cancelled");
  Bytes much;
  for (int i = 0; i < 4; ++i) much += frame(2, FrameKind::data, Bytes(16'384, 'x'));
  auto loud = task_open();
  loud.set_initial_credit(0xffffffff);
  const std::vector<std::pair<const char*, std::vector<Bytes>>> rows = {
      {"data on an id never opened", {frame(4, FrameKind::data, "x")}},
      {"data before the answer", {frame(1, FrameKind::data, "x")}},
      {"finish before the answer", {frame(1, FrameKind::finish, "")}},
      {"credit before the answer", {credit(1, 1)}},
      {"more data than credit", {much, frame(2, FrameKind::data, "x")}},
      {"data after finish", {frame(2, FrameKind::finish, ""), frame(2, FrameKind::data, "x")}},
      {"finish twice", {frame(2, FrameKind::finish, ""), frame(2, FrameKind::finish, "")}},
      {"an id of ours", {frame(3, FrameKind::open, open)}},
      {"an id twice", {frame(2, FrameKind::open, open)}},
      {"ids going back", {frame(8, FrameKind::open, open), frame(6, FrameKind::open, open)}},
      {"open inside another", {frame(4, FrameKind::open, "x", true), frame(6, FrameKind::open, open)}},
      {"data for a half open id", {frame(4, FrameKind::open, "x", true), frame(4, FrameKind::data, "x")}},
      {"credit for a half open id", {frame(4, FrameKind::open, "x", true), credit(4, 1)}},
      {"open that is no message", {frame(4, FrameKind::open, "\xff\xff\xff")}},
      {"open with boundless credit", {frame(4, FrameKind::open, loud.SerializeAsString())}},
      {"control that is no message", {frame(0, FrameKind::control, "\xff\xff\xff")}},
      {"accept of its own channel", {frame(2, FrameKind::accept, accept(70'000))}},
      {"accept of nothing", {frame(5, FrameKind::accept, accept(70'000))}},
      {"accept twice",
       {frame(1, FrameKind::accept, accept(70'000)), frame(1, FrameKind::accept, accept(70'000))}},
      {"accept with less than was promised", {frame(1, FrameKind::accept, accept(1))}},
      {"accept with boundless credit", {frame(1, FrameKind::accept, accept(0xffffffff))}},
      {"refuse after accept", {frame(1, FrameKind::accept, accept(70'000)), frame(1, FrameKind::refuse, "")}},
      {"refuse of its own channel", {frame(2, FrameKind::refuse, "")}},
      {"refuse that is no message", {frame(1, FrameKind::refuse, "\xff\xff\xff")}},
      {"credit without end", {credit(2, 1U << 30U), credit(2, 1U << 30U)}},
      {"credit at once without end", {credit(2, 0xffffffff)}},
      {"credit for an id never opened", {credit(6, 1)}},
      {"credit for an id of ours never opened", {credit(7, 1)}},
      {"reset of an id never opened", {future_reset}},
      {"a message over its limit", {Bytes(max_message_bytes + 1, 'x')}},
  };
  for (const auto& [reason, messages] : rows) {
    SCOPED_TRACE(reason);
    Mux node(Side::node);
    ASSERT_TRUE(node.open(task_open()).has_value());
    node.take_output();
    ASSERT_TRUE(node.receive(frame(2, FrameKind::open, open)).has_value());
    node.accept(2, {});

    Result<void> taken;
    for (const auto& message : messages) {
      ASSERT_TRUE(taken.has_value());
      taken = node.receive(message);
    }

    ASSERT_FALSE(taken.has_value());
    EXPECT_EQ(taken.error().code(), ErrorCode::protocol_violation);
  }
}

TEST(MuxHostility, WhenAMessageIsAssembledWithoutEnd_ThenItIsCutOff) {
  for (const auto kind : {FrameKind::control, FrameKind::open}) {
    Mux node(Side::node);
    Bytes part;
    append_frame(part, {.channel = kind == FrameKind::open ? 2U : 0U,
                        .kind = kind,
                        .more_follows = true,
                        .payload = Bytes(max_frame_payload_bytes, 'x')});
    Result<void> taken;
    int parts = 0;
    for (; taken && parts < 100; ++parts) taken = node.receive(part);

    EXPECT_FALSE(taken.has_value());
    EXPECT_LE(parts, 66);
  }
}

TEST(MuxHostility, WhenCallsComeForAChannelThatIsOver_ThenTheyAreIgnored) {
  Mux node(Side::node);
  for (const ChannelId channel : {1U, 2U, 77U}) {
    node.accept(channel, {});
    node.refuse(channel, {});
    node.send(channel, "x");
    node.finish(channel);
    node.reset(channel, ErrorCode::cancelled);
    EXPECT_FALSE(node.read(channel).has_value());
    EXPECT_TRUE(node.has_room(channel));
  }

  EXPECT_FALSE(node.has_output());
}

}  // namespace
}  // namespace outhaul::wire
