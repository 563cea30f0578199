#include "transport/tunnel.h"

#include <gtest/gtest.h>

#include "testing/tunnel_fixture.h"

namespace outhaul::transport {
namespace {

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

TEST_F(TunnelTest, WhenTwoProbesOverlap_ThenEachHasItsOwnAnswer) {
  connect();
  std::optional<bool> early, late;
  carriers->link.set_held(true);
  group->spawn([&]() -> Task<void> { early = co_await hub_tunnel->probe(clock.now() + 1s); });
  group->spawn([&]() -> Task<void> { late = co_await hub_tunnel->probe(clock.now() + 3s); });
  run();
  pass(1s);
  carriers->link.set_held(false);
  run();

  EXPECT_EQ(early, false);
  EXPECT_EQ(late, true);
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

}  // namespace
}  // namespace outhaul::transport
