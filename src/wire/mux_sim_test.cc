// Seeded simulation of two multiplexers against a model: every byte once and in order, credit never
// passed, every channel over at the end. The seed of a failure is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "wire/message.h"
#include "wire/mux.h"

namespace outhaul::wire {
namespace {

// What one direction of one channel was given and has given.
struct Direction {
  Bytes sent;
  Bytes received;
  bool is_finished = false;  // by the sender
  bool is_broken = false;    // reset or refused: any prefix will do
};

// Counts credit on the wire, apart from both ends. Directions are named by (channel, sender).
class CreditAuditor {
 public:
  void watch(Side sender, ByteView message) {
    FrameReader reader(message);
    while (const auto frame = reader.next().value()) watch(sender, *frame);
  }

 private:
  void watch(Side sender, const Frame& frame) {
    const auto key = std::pair(frame.channel, sender);
    if (frame.kind == FrameKind::open && !frame.more_follows && !parts_.contains(key)) {
      given_[{frame.channel, other(sender)}] += parse_open(frame.payload).value().initial_credit();
      given_[key] += min_window_bytes;
    } else if (frame.kind == FrameKind::open) {
      parts_[key] += frame.payload;
      if (frame.more_follows) return;
      given_[{frame.channel, other(sender)}] += parse_open(parts_[key]).value().initial_credit();
      given_[key] += min_window_bytes;
    } else if (frame.kind == FrameKind::accept) {
      given_[{frame.channel, other(sender)}] +=
          parse_accept(frame.payload).value().initial_credit() - min_window_bytes;
    } else if (frame.kind == FrameKind::credit) {
      given_[{frame.channel, other(sender)}] += credit_of(frame);
    } else if (frame.kind == FrameKind::data) {
      used_[key] += frame.payload.size();
      EXPECT_LE(used_[key], given_[key]) << "channel " << frame.channel;
    }
  }

  std::map<std::pair<ChannelId, Side>, Bytes> parts_;
  std::map<std::pair<ChannelId, Side>, std::uint64_t> given_;
  std::map<std::pair<ChannelId, Side>, std::uint64_t> used_;
};

class MuxSimulation {
 public:
  explicit MuxSimulation(unsigned seed) : random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    wind_down();
    check();
  }

 private:
  struct End {
    Side side;
    Mux mux;
    std::deque<Bytes> to_other;
    std::map<ChannelId, bool> channels;  // live here; true: answered
  };

  unsigned draw(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  End& draw_end() { return draw(2) == 0 ? hub_ : node_; }
  End& opposite(const End& end) { return end.side == Side::hub ? node_ : hub_; }
  Direction& direction(ChannelId channel, Side sender) { return directions_[{channel, sender}]; }
  std::optional<ChannelId> draw_channel(End& end) {
    if (end.channels.empty()) return std::nullopt;
    auto at = end.channels.begin();
    std::advance(at, draw(static_cast<unsigned>(end.channels.size())));
    return at->first;
  }

  void step() {
    auto& end = draw_end();
    const auto choice = draw(100);
    if (choice < 30) return transmit(end);
    if (choice < 60) return deliver(end);
    if (choice < 65) return open(end);
    const auto channel = draw_channel(end);
    if (!channel) return;
    if (choice < 80) return send(end, *channel);
    if (choice < 95) return read(end, *channel);
    if (choice < 98) return finish(end, *channel);
    reset(end, *channel);
  }

  void open(End& end) {
    if (end.channels.size() > 20) return;
    v1::Open open;
    open.set_plane("task");
    open.set_interactive(draw(4) == 0);
    if (draw(5) == 0) open.mutable_envelope()->set_bytes(Bytes(draw(60'000), 'e'));
    end.channels[end.mux.open(open).value()] = true;
  }

  void send(End& end, ChannelId channel) {
    auto& way = direction(channel, end.side);
    if (!end.channels[channel] || way.is_finished || !end.mux.has_room(channel)) return;
    Bytes bytes(draw(8) == 0 ? draw(100'000) : draw(200), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random_());
    way.sent += bytes;
    end.mux.send(channel, bytes);
  }

  void read(End& end, ChannelId channel) {
    if (auto chunk = end.mux.read(channel)) direction(channel, other(end.side)).received += *chunk;
  }

  void finish(End& end, ChannelId channel) {
    if (!end.channels[channel]) return;
    direction(channel, end.side).is_finished = true;
    end.mux.finish(channel);
  }

  void reset(End& end, ChannelId channel) {
    if (draw(3) != 0) return;
    end.mux.reset(channel, ErrorCode::cancelled);
    give_up(channel);
    end.channels.erase(channel);
  }

  void give_up(ChannelId channel) {
    direction(channel, Side::hub).is_broken = true;
    direction(channel, Side::node).is_broken = true;
  }

  void transmit(End& end) {
    if (!end.mux.has_output()) return;
    auto message = end.mux.take_output(2 * (frame_header_bytes + max_frame_payload_bytes) + draw(32'000));
    take_events(end);
    if (message.empty()) return;
    auditor_.watch(end.side, message);
    end.to_other.push_back(std::move(message));
  }

  void deliver(End& end) {
    if (end.to_other.empty()) return;
    auto& receiver = opposite(end);
    const auto taken = receiver.mux.receive(end.to_other.front());
    EXPECT_TRUE(taken.has_value()) << taken.error().what();
    end.to_other.pop_front();
    take_events(receiver);
  }

  void take_events(End& end) {
    while (auto event = end.mux.take_event()) {
      if (auto* const opened = std::get_if<ChannelOpened>(&*event)) {
        answer(end, opened->channel);
      } else if (auto* const refused = std::get_if<ChannelRefused>(&*event)) {
        give_up(refused->channel);
        end.channels.erase(refused->channel);
      } else if (auto* const was_reset = std::get_if<ChannelReset>(&*event)) {
        while (auto chunk = end.mux.read(was_reset->channel)) {
          direction(was_reset->channel, other(end.side)).received += *chunk;
        }
        give_up(was_reset->channel);
        end.channels.erase(was_reset->channel);
      }
    }
  }

  void answer(End& end, ChannelId channel) {
    if (draw(10) == 0) {
      end.mux.refuse(channel, {});
      return give_up(channel);
    }
    end.channels[channel] = true;
    end.mux.accept(channel, {});
  }

  // Everybody finishes, everything is read: nothing may be left.
  void wind_down() {
    for (auto* const end : {&hub_, &node_}) {
      for (const auto& [channel, live] : end->channels) finish(*end, channel);
    }
    for (int round = 0; round < 20'000 && !testing::Test::HasFailure() && is_busy(); ++round) {
      for (auto* const end : {&hub_, &node_}) {
        transmit(*end);
        deliver(*end);
        for (auto& [channel, live] : end->channels) read(*end, channel);
        for (const auto& [channel, live] : end->channels) finish(*end, channel);
      }
    }
  }
  bool is_busy() {
    return hub_.mux.has_output() || node_.mux.has_output() || !hub_.to_other.empty() ||
           !node_.to_other.empty() || hub_.mux.open_channels() + node_.mux.open_channels() > 0;
  }

  void check() {
    EXPECT_EQ(hub_.mux.open_channels(), 0U);
    EXPECT_EQ(node_.mux.open_channels(), 0U);
    EXPECT_EQ(hub_.mux.total_window_bytes() + node_.mux.total_window_bytes(), 0U);
    EXPECT_EQ(hub_.mux.total_queued_bytes() + node_.mux.total_queued_bytes(), 0U);
    for (const auto& [key, way] : directions_) {
      SCOPED_TRACE("channel " + std::to_string(key.first));
      EXPECT_TRUE(way.sent.starts_with(way.received));
      if (!way.is_broken) {
        EXPECT_EQ(way.received.size(), way.sent.size());
      }
    }
  }

  std::mt19937 random_;
  CreditAuditor auditor_;
  End hub_{Side::hub, Mux(Side::hub), {}, {}};
  End node_{Side::node, Mux(Side::node), {}, {}};
  std::map<std::pair<ChannelId, Side>, Direction> directions_;
};

// proves B4
TEST(MuxSimulation, WhenAnythingLegalHappens_ThenEveryByteArrivesOnceAndInOrder) {
  for (unsigned seed = 1; seed <= 150 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MuxSimulation(seed).run(3000);
  }
}

}  // namespace
}  // namespace outhaul::wire
