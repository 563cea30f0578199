// What every carrier promises, on each of them: the WebSocket carrier (on both roles' ends, over memory) and
// the memory carrier that other tests use in its place.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/task_group.h"
#include "testing/manual_clock.h"
#include "testing/memory_carrier.h"
#include "testing/memory_connection.h"
#include "testing/run_ready_task.h"
#include "transport/websocket_carrier.h"
#include "wire/frame.h"

namespace outhaul {
namespace {

using testing::run_ready;
using testing::run_ready_task;
using transport::Carrier;

struct Carriers {
  std::unique_ptr<Carrier> hub;
  std::unique_ptr<Carrier> node;
};

struct Adapter {
  const char* name;
  Carriers (*make)(const Executor&);
};

Carriers websocket_over(const Executor& executor, testing::MemoryConnectionSettings settings) {
  http::PeerFacts facts;
  facts.server_spki_der = "hub spki";
  auto ends = testing::make_memory_connections(executor, settings, std::move(facts));
  http::UpgradedConnection hub{std::move(ends.server), {}};
  http::UpgradedConnection node{std::move(ends.client), {}};
  return {transport::make_websocket_carrier(http::WebSocketRole::server, std::move(hub), executor),
          transport::make_websocket_carrier(http::WebSocketRole::client, std::move(node), executor)};
}
Carriers websocket(const Executor& executor) { return websocket_over(executor, {}); }
Carriers websocket_by_byte(const Executor& executor) {
  return websocket_over(executor, {.max_read_bytes = 1});
}
Carriers memory(const Executor& executor) {
  auto ends = testing::make_memory_carriers(executor);
  return {std::move(ends.hub), std::move(ends.node)};
}

class CarrierContract : public ::testing::TestWithParam<Adapter> {
 protected:
  CarrierContract() : carriers_(GetParam().make(io_.get_executor())) {}
  ~CarrierContract() override {
    group_.cancel();
    run_ready(io_);
  }
  bool send(Carrier& from, Bytes message) {
    const auto sent = run_ready_task(io_, from.send(std::move(message)));
    return sent && *sent;
  }
  std::optional<Result<Bytes>> receive(Carrier& at) { return run_ready_task(io_, at.receive()); }

  asio::io_context io_;
  TaskGroup group_{io_.get_executor()};
  Carriers carriers_;
};

TEST_P(CarrierContract, WhenMessagesAreSent_ThenTheyArriveWholeAndInOrder) {
  const std::vector<Bytes> messages = {"a", Bytes(wire::max_message_bytes, 'b'), Bytes("\0\xff", 2),
                                       Bytes(200, 'c')};
  std::vector<Bytes> at_node;
  std::vector<Bytes> at_hub;
  const auto take = [&](Carrier& from, std::vector<Bytes>& into) -> Task<void> {
    while (into.size() < messages.size()) {
      auto message = co_await from.receive();
      if (!message) co_return;
      into.push_back(std::move(*message));
    }
  };
  const auto give = [&](Carrier& to) -> Task<void> {
    for (const auto& message : messages) EXPECT_TRUE((co_await to.send(message)));
  };

  group_.spawn([&] { return take(*carriers_.node, at_node); });
  group_.spawn([&] { return take(*carriers_.hub, at_hub); });
  group_.spawn([&] { return give(*carriers_.hub); });
  group_.spawn([&] { return give(*carriers_.node); });
  run_ready(io_);

  EXPECT_EQ(at_node, messages);
  EXPECT_EQ(at_hub, messages);
}

TEST_P(CarrierContract, WhenNobodyReads_ThenSendingStopsAndReceivingGoesOn) {
  int sent = 0;
  group_.spawn([&]() -> Task<void> {
    const Bytes message(wire::max_message_bytes, 'x');
    for (;;) {
      const auto done = co_await carriers_.node->send(message);
      if (!done) co_return;
      ++sent;
    }
  });
  run_ready(io_);

  const bool other_way = send(*carriers_.hub, "other way");
  const auto received = receive(*carriers_.node);

  EXPECT_LT(sent, 1000);
  EXPECT_TRUE(other_way);
  ASSERT_TRUE(received && *received);
  EXPECT_EQ(**received, "other way");
}

TEST_P(CarrierContract, WhenAReceiveIsCancelled_ThenTheNextOneGetsTheMessage) {
  EXPECT_FALSE(receive(*carriers_.hub));

  ASSERT_TRUE(send(*carriers_.node, "later"));
  const auto received = receive(*carriers_.hub);

  ASSERT_TRUE(received && *received);
  EXPECT_EQ(**received, "later");
}

TEST_P(CarrierContract, WhenOneEndCloses_ThenEverythingThatWaitsFails) {
  std::optional<Result<Bytes>> at_hub;
  std::optional<Result<Bytes>> at_node;
  group_.spawn([&]() -> Task<void> { at_hub = co_await carriers_.hub->receive(); });
  group_.spawn([&]() -> Task<void> { at_node = co_await carriers_.node->receive(); });
  run_ready(io_);

  carriers_.node->close();
  run_ready(io_);

  for (const auto* received : {&at_hub, &at_node}) {
    ASSERT_TRUE(*received);
    ASSERT_FALSE(**received);
    EXPECT_EQ((*received)->error().code(), ErrorCode::unavailable);
  }
  EXPECT_FALSE(send(*carriers_.node, "too late"));
  carriers_.node->close();
}

TEST_P(CarrierContract, WhenAnEndIsDestroyed_ThenTheOtherFails) {
  carriers_.node.reset();

  const auto received = receive(*carriers_.hub);

  ASSERT_TRUE(received && !*received);
  EXPECT_EQ(received->error().code(), ErrorCode::unavailable);
}

TEST_P(CarrierContract, WhenAskedForItsPeer_ThenBothEndsNameTheSameHub) {
  EXPECT_EQ(carriers_.hub->peer().hub_spki, "hub spki");
  EXPECT_EQ(carriers_.node->peer().hub_spki, "hub spki");
  EXPECT_EQ(carriers_.node->peer().tls_uri, "");
}

// proves B3
INSTANTIATE_TEST_SUITE_P(Adapters, CarrierContract,
                         ::testing::Values(Adapter{"websocket", websocket},
                                           Adapter{"websocket_by_byte", websocket_by_byte},
                                           Adapter{"memory", memory}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace outhaul
