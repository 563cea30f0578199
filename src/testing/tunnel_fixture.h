// Two ends of a tunnel in one test: handshake, handlers and helpers that move bytes in the background.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/task_group.h"
#include "testing/manual_clock.h"
#include "testing/memory_carrier.h"
#include "testing/test_keys.h"
#include "transport/tunnel.h"

namespace outhaul::transport {

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

}  // namespace outhaul::transport
