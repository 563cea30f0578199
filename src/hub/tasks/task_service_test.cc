#include "hub/tasks/task_service.h"

#include <gtest/gtest.h>

#include "hub/nodes/node_service.h"
#include "hub/streams/output_reader.h"
#include "store/memory_tables.h"
#include "testing/hub_world.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using testing::HubWorld;
using testing::ScriptNode;

class TaskServiceTest : public ::testing::Test {
 protected:
  TaskService& tasks() { return world.hub().tasks(); }
  Submission submit(TaskOrder order) { return world.run(tasks().submit(std::move(order))).value(); }
  Submission submit() { return submit(world.order({"true"})); }
  store::TaskRow row(const TaskId& id) { return world.run(tasks().load(id)).value(); }
  store::TaskRow ended(const TaskId& id) {
    return world.run(tasks().wait_ended(id, world.clock().now() + 10min)).value();
  }
  // Sent before its row is durable: after a crash now, the node alone knows of it.
  TaskId send_unsaved(ScriptNode& node) {
    world.start([this]() -> Task<void> {
      auto order = world.order({"true"});
      static_cast<void>(co_await tasks().submit(std::move(order)));
    });
    testing::run_ready(world.io());
    return node.arrivals().at(0).spec.task_id;
  }
  ErrorCode refusal(TaskOrder order) { return world.run(tasks().submit(std::move(order))).error().code(); }

  HubWorld world;
};

// proves C1
TEST_F(TaskServiceTest, WhenANodeIsAttached_ThenATaskRunsThereAndItsResultIsKept) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());

  const auto made = submit();
  const auto end = ended(made.task);

  EXPECT_EQ(end.state, store::TaskState::finished);
  EXPECT_EQ(std::get<wire::Exited>(wire::parse_task_result(end.result)->end).code, 0);
  EXPECT_EQ(node.started(made.task), 1U);
  world.pass(1s);
  EXPECT_TRUE(node.has_acknowledgement(made.stream));
  EXPECT_EQ(row(made.task).state, store::TaskState::finished);
}

TEST_F(TaskServiceTest, WhenNoNodeIsThere_ThenATaskWaitsAndRunsOnceOneAttaches) {
  const auto made = submit();
  EXPECT_EQ(row(made.task).state, store::TaskState::queued);
  ScriptNode node(world, world.enrol("alpha"));

  ASSERT_TRUE(node.attach());

  EXPECT_EQ(ended(made.task).state, store::TaskState::finished);
}

// proves X14
TEST_F(TaskServiceTest, WhenATaskWaits_ThenEachNodeHasAReason) {
  const auto identity = world.enrol("alpha");
  ScriptNode node(world, identity);
  node.slots = 0;
  ASSERT_TRUE(node.attach());
  static_cast<void>(world.enrol("beta"));

  const auto made = submit();

  const auto reasons = tasks().waiting(made.task);
  ASSERT_EQ(reasons.size(), 2U);
  std::map<std::string, ErrorCode> by_name;
  for (const auto& reason : reasons) by_name.emplace(reason.node_name, reason.code);
  EXPECT_EQ(by_name.at("alpha"), ErrorCode::node_full);
  EXPECT_EQ(by_name.at("beta"), ErrorCode::session_lost);
}

TEST_F(TaskServiceTest, WhenNobodyTakesItInTime_ThenItFailsAsQueueTimeoutAndNeverRuns) {
  auto order = world.order({"true"});
  order.queue_timeout = 5s;
  const auto made = submit(std::move(order));

  world.pass(4s);
  EXPECT_EQ(row(made.task).state, store::TaskState::queued);
  world.pass(2s);

  EXPECT_EQ(row(made.task).state, store::TaskState::failed);
  EXPECT_EQ(row(made.task).error_code, "queue_timeout");
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());
  world.pass(1s);
  EXPECT_EQ(node.started(made.task), 0U);
}

TEST_F(TaskServiceTest, WhenAnOrderCannotBe_ThenItIsRefusedAtOnce) {
  auto unknown_node = world.order({"true"});
  unknown_node.selector.node = "nowhere";
  auto empty_argv = world.order({});
  auto bad_cwd = world.order({"true"});
  bad_cwd.cwd = "../up";
  auto too_large =
      world.order({"true", std::string(100'000, 'x'), std::string(100'000, 'x'), std::string(100'000, 'x')});

  EXPECT_EQ(refusal(unknown_node), ErrorCode::not_found);
  EXPECT_EQ(refusal(empty_argv), ErrorCode::invalid);
  EXPECT_EQ(refusal(bad_cwd), ErrorCode::invalid);
  EXPECT_EQ(refusal(too_large), ErrorCode::task_too_large);
  tasks().begin_drain();
  EXPECT_EQ(refusal(world.order({"true"})), ErrorCode::draining);
}

TEST_F(TaskServiceTest, WhenAKeyComesTwice_ThenOneTaskRuns) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());
  const IdempotencyKey key{"k1", "hash"};

  const auto first = world.run(tasks().submit(world.order({"true"}), key)).value();
  const auto second = world.run(tasks().submit(world.order({"true"}), key)).value();
  const auto other = world.run(tasks().submit(world.order({"false"}), IdempotencyKey{"k1", "another"}));

  EXPECT_FALSE(first.is_repeat);
  EXPECT_TRUE(second.is_repeat);
  EXPECT_EQ(first.task, second.task);
  EXPECT_EQ(other.error().code(), ErrorCode::idempotency_mismatch);
  static_cast<void>(ended(first.task));
  EXPECT_EQ(node.arrivals().size(), 1U);
}

TEST_F(TaskServiceTest, WhenAllSlotsAreTaken_ThenTheNextTaskWaitsForOne) {
  ScriptNode node(world, world.enrol("alpha"));
  node.slots = 2;
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());

  const auto first = submit();
  static_cast<void>(submit());
  const auto third = submit();
  world.pass(1s);
  EXPECT_EQ(row(third.task).state, store::TaskState::queued);
  node.finish(first.task);
  static_cast<void>(ended(first.task));
  world.pass(1s);

  EXPECT_EQ(node.started(third.task), 1U);
}

TEST_F(TaskServiceTest, WhenTheNodeRefusesForCapacity_ThenAnotherNodeRunsIt) {
  ScriptNode full(world, world.enrol("alpha"));
  full.answer = ScriptNode::Answer::refuse;
  ASSERT_TRUE(full.attach());
  const auto made = submit();
  world.pass(1s);
  EXPECT_EQ(row(made.task).state, store::TaskState::queued);
  ScriptNode free(world, world.enrol("beta"));

  ASSERT_TRUE(free.attach());

  EXPECT_EQ(ended(made.task).state, store::TaskState::finished);
  EXPECT_EQ(full.started(made.task), 0U);
  EXPECT_EQ(free.started(made.task), 1U);
}

// Its nonce is not used up: whoever kept the envelope could have it run there as well.
// proves C3
TEST_F(TaskServiceTest, WhenTheNodesDiskIsFull_ThenTheTaskWaitsForThatNode) {
  ScriptNode full(world, world.enrol("alpha"));
  full.answer = ScriptNode::Answer::refuse;
  full.refusal = ErrorCode::node_disk_full;
  ASSERT_TRUE(full.attach());
  const auto made = submit();
  ScriptNode free(world, world.enrol("beta"));
  ASSERT_TRUE(free.attach());

  world.pass(30s);
  EXPECT_EQ(row(made.task).state, store::TaskState::dispatched);
  full.answer = ScriptNode::Answer::finish;

  EXPECT_EQ(ended(made.task).state, store::TaskState::finished);
  EXPECT_EQ(free.started(made.task), 0U);
  EXPECT_EQ(full.started(made.task), 1U);
}

TEST_F(TaskServiceTest, WhenTheNodeRefusesForGood_ThenTheTaskFailsWithItsCode) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::refuse;
  node.refusal = ErrorCode::task_policy_refused;
  ASSERT_TRUE(node.attach());

  const auto end = ended(submit().task);

  EXPECT_EQ(end.state, store::TaskState::failed);
  EXPECT_EQ(end.error_code, "task_policy_refused");
}

TEST_F(TaskServiceTest, WhenTheNodeFindsItExpired_ThenItIsSignedAgainOnce) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::refuse;
  node.refusal = ErrorCode::task_expired;
  ASSERT_TRUE(node.attach());

  const auto end = ended(submit().task);

  EXPECT_EQ(end.error_code, "task_expired");
  ASSERT_EQ(node.arrivals().size(), 2U);
  EXPECT_EQ(node.arrivals()[0].spec.task_id, node.arrivals()[1].spec.task_id);
  EXPECT_NE(node.arrivals()[0].spec.nonce, node.arrivals()[1].spec.nonce);
}

// proves X18
TEST_F(TaskServiceTest, WhenTheHubDiesBeforeTheAcknowledgement_ThenTheTaskStillRunsOnce) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::silent;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  ASSERT_EQ(node.started(made.task), 1U);

  world.crash();
  world.boot();
  ASSERT_TRUE(node.attach());
  world.pass(1s);
  EXPECT_EQ(row(made.task).state, store::TaskState::accepted);
  node.finish(made.task, 3);

  EXPECT_EQ(ended(made.task).state, store::TaskState::finished);
  EXPECT_EQ(node.started(made.task), 1U);
}

// proves X18
TEST_F(TaskServiceTest, WhenTheLinkBreaksBeforeTheTaskArrives_ThenTheSameBytesAreSentAgain) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::silent;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  // As if it had never come: the node says so in its next Hello.
  node.forget(made.task);
  node.cut();
  node.answer = ScriptNode::Answer::finish;

  ASSERT_TRUE(node.attach());

  EXPECT_EQ(ended(made.task).state, store::TaskState::finished);
  ASSERT_EQ(node.arrivals().size(), 2U);
  EXPECT_EQ(node.arrivals()[0].envelope, node.arrivals()[1].envelope);
}

TEST_F(TaskServiceTest, WhenTheEnvelopeExpiredMeanwhile_ThenItIsSignedAgain) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::silent;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  node.forget(made.task);
  node.cut();
  node.answer = ScriptNode::Answer::finish;
  world.pass(6min);

  ASSERT_TRUE(node.attach());

  EXPECT_EQ(ended(made.task).state, store::TaskState::finished);
  ASSERT_EQ(node.arrivals().size(), 2U);
  EXPECT_NE(node.arrivals()[0].spec.nonce, node.arrivals()[1].spec.nonce);
}

// proves X16
TEST_F(TaskServiceTest, WhenTheNodeNoLongerKnowsAnAcceptedTask_ThenItIsLostWithEvidenceAndNotRunAgain) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  ASSERT_EQ(row(made.task).state, store::TaskState::accepted);
  world.crash();
  node.forget(made.task);
  node.restart();

  world.boot();
  ASSERT_TRUE(node.attach());
  world.pass(1s);

  EXPECT_EQ(row(made.task).state, store::TaskState::lost);
  EXPECT_EQ(row(made.task).error_code, "task_lost");
  EXPECT_FALSE(row(made.task).error_message.empty());
  EXPECT_EQ(node.arrivals().size(), 1U);
}

// proves X13
TEST_F(TaskServiceTest, WhenATaskEndsWhileTheHubIsAway_ThenItsResultArrivesLater) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);

  world.crash();
  world.boot();
  node.finish(made.task, 7);
  node.restart();
  ASSERT_TRUE(node.attach());

  const auto end = ended(made.task);
  EXPECT_EQ(end.state, store::TaskState::finished);
  EXPECT_EQ(std::get<wire::Exited>(wire::parse_task_result(end.result)->end).code, 7);
}

// proves X12
TEST_F(TaskServiceTest, WhenTheHubWasDownForHours_ThenWhatRunsIsNotGivenUp) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto running = submit();
  auto picky = world.order({"true"});
  picky.selector.pool = "nowhere";
  const auto queued = submit(std::move(picky));
  world.pass(1s);

  world.crash();
  world.clock().advance(5h);
  world.boot();
  world.pass(30s);

  EXPECT_EQ(row(running.task).state, store::TaskState::accepted);
  EXPECT_EQ(row(queued.task).state, store::TaskState::queued);
}

// proves X10
TEST_F(TaskServiceTest, WhenANodeIsSilentForLong_ThenItsTaskGoesOnThereAndNowhereElse) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  ScriptNode idle(world, world.enrol("beta"));
  ASSERT_TRUE(idle.attach());

  node.fall_silent();
  world.pass(5min);
  EXPECT_FALSE((*world.hub().nodes().find("alpha"))->attachment.has_value());
  EXPECT_EQ(row(made.task).state, store::TaskState::accepted);
  node.finish(made.task);
  ASSERT_TRUE(node.attach());

  EXPECT_EQ(ended(made.task).state, store::TaskState::finished);
  EXPECT_EQ(node.started(made.task), 1U);
  EXPECT_TRUE(idle.arrivals().empty());
}

// proves X16
TEST_F(TaskServiceTest, WhenANodeStaysAwayForGood_ThenWhatItHadIsLostWithEvidenceAlsoAcrossRestarts) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  node.cut();
  world.pass(24h * 6);
  EXPECT_EQ(row(made.task).state, store::TaskState::accepted);

  world.crash();
  world.clock().advance(24h * 30);
  world.boot();
  world.pass(5min);
  EXPECT_EQ(row(made.task).state, store::TaskState::accepted) << "it had no hub to come back to";
  world.pass(6min);

  const auto end = ended(made.task);
  EXPECT_EQ(end.state, store::TaskState::lost);
  EXPECT_NE(end.error_message.find("last_seen 20"), std::string::npos) << end.error_message;
  ASSERT_TRUE(node.attach());
  world.pass(1s);
  EXPECT_EQ(row(made.task).state, store::TaskState::lost);
  EXPECT_EQ(node.started(made.task), 1U);
}

// proves C4
TEST_F(TaskServiceTest, WhenTheNodeSaysThatItRuns_ThenTheStateIsRunningAndStaysSoAcrossARestart) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  EXPECT_EQ(row(made.task).state, store::TaskState::accepted);

  node.tell_running(made.task);
  world.pass(1s);

  EXPECT_EQ(row(made.task).state, store::TaskState::running);
  const store::TaskFilter running{.owner = {}, .node = {}, .state = store::TaskState::running};
  EXPECT_EQ(world.run(tasks().list(running, {})).value().rows.size(), 1U);
  world.crash();
  world.boot();
  EXPECT_EQ(row(made.task).state, store::TaskState::running);
  EXPECT_TRUE(row(made.task).times.started_at.has_value());
}

TEST_F(TaskServiceTest, WhenAnotherNodeSaysThatItRuns_ThenNothingChanges) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  ScriptNode liar(world, world.enrol("beta"));
  ASSERT_TRUE(liar.attach());

  liar.tell_running(made.task);
  world.pass(1s);

  EXPECT_EQ(row(made.task).state, store::TaskState::accepted);
}

// proves C11
TEST_F(TaskServiceTest, WhenAnEchoIsAsked_ThenItIsATaskLikeAnyOther) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());
  auto order = world.order({});
  order.action = wire::EchoAction{"over the tunnel"};

  const auto end = ended(submit(std::move(order)).task);

  EXPECT_EQ(end.state, store::TaskState::finished);
  EXPECT_EQ(std::get<wire::EchoAction>(node.arrivals().at(0).spec.action).text, "over the tunnel");
}

// proves C6
TEST_F(TaskServiceTest, WhenATaskIsSent_ThenItIsSignedForThatNodeAndAShortTime) {
  const auto identity = world.enrol("alpha");
  ScriptNode node(world, identity);
  ASSERT_TRUE(node.attach());

  static_cast<void>(ended(submit().task));

  const auto& arrival = node.arrivals().at(0);
  const crypto::TrustedKey key{KeyId::assume(node.welcome().signing_keys(0).key_id()),
                               crypto::VerifyKey::parse(node.welcome().signing_keys(0).public_key()).value()};
  const auto spec = wire::open_task_envelope(arrival.envelope, {&key, 1}).value();
  EXPECT_EQ(spec.audience, identity->id);
  EXPECT_EQ(spec.issuer, HubWorld::deployment);
  EXPECT_EQ(spec.owner, world.admin().account);
  EXPECT_EQ(spec.expires_at - spec.issued_at, 5min);
  EXPECT_TRUE(spec.trace.has_value());
}

TEST_F(TaskServiceTest, WhenTheHubDiesBeforeTheRowIsDurable_ThenTheNodesStreamBringsTheTaskBack) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto id = send_unsaved(node);
  ASSERT_EQ(node.arrivals().size(), 1U);
  world.crash();
  world.boot();
  ASSERT_EQ(world.run(tasks().load(id)).error().code(), ErrorCode::not_found);

  node.finish(id);
  ASSERT_TRUE(node.attach());
  world.pass(1s);

  EXPECT_EQ(row(id).state, store::TaskState::finished);
  EXPECT_EQ(row(id).owner, world.admin().account);
  EXPECT_EQ(node.started(id), 1U);
}

TEST_F(TaskServiceTest, WhenTheDiskOfTheHubIsFull_ThenNoTaskIsTakenUntilThereIsRoom) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());
  const auto whole = std::exchange(world.disk_image().capacity, world.disk_image().used_bytes() + 1024);

  EXPECT_EQ(refusal(world.order({"true"})), ErrorCode::disk_full);
  EXPECT_TRUE(node.arrivals().empty());
  world.disk_image().capacity = whole;

  EXPECT_EQ(ended(submit().task).state, store::TaskState::finished);
}

TEST_F(TaskServiceTest, WhenTheDatabaseFailsWhileATaskIsAdopted_ThenNoRowIsThereBeforeItsOutput) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto id = send_unsaved(node);
  world.crash();
  world.boot();
  world.database().set_fault(ErrorCode::disk_full);
  node.finish(id);
  ASSERT_TRUE(node.attach());
  world.pass(2500ms);

  world.database().set_fault(std::nullopt);
  const auto stored = [&] { return world.tables().tasks.find(id); };
  for (int i = 0; i < 2000 && stored() == nullptr; ++i) world.pass(1ms);

  ASSERT_NE(stored(), nullptr);
  EXPECT_EQ(stored()->state, store::TaskState::finished);
  EXPECT_NE(world.tables().streams.find(stored()->stream), nullptr);
}

TEST_F(TaskServiceTest, WhenAnEndIsNotInItsRowYet_ThenTheListShowsItLikeEverybodyElse) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  world.database().set_fault(ErrorCode::disk_full);
  node.finish(made.task);
  world.pass(1s);
  ASSERT_EQ(row(made.task).state, store::TaskState::finished);

  const auto listed = world.run(tasks().list({}, {})).value().rows;
  const store::TaskFilter accepted{.owner = {}, .node = {}, .state = store::TaskState::accepted};

  EXPECT_EQ(listed.at(0).state, store::TaskState::finished);
  EXPECT_TRUE(world.run(tasks().list(accepted, {})).value().rows.empty());
}

// proves C4
TEST_F(TaskServiceTest, WhenARunningTaskIsCancelled_ThenTheNodeIsToldAndToldAgainAfterEachReconnection) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);
  const auto cancels = [&node] {
    return std::ranges::count_if(node.controls(),
                                 [](const auto& control) { return control.has_cancel_task(); });
  };

  static_cast<void>(world.run(tasks().cancel(made.task, {.signal = 2, .grace = 3s})).value());
  world.pass(1s);
  EXPECT_EQ(cancels(), 1);
  node.cut();
  ASSERT_TRUE(node.attach());
  world.pass(1s);
  EXPECT_EQ(cancels(), 2);
  world.crash();
  world.boot();
  ASSERT_TRUE(node.attach());
  world.pass(1s);

  EXPECT_EQ(cancels(), 3);
  EXPECT_TRUE(row(made.task).times.cancel_requested_at.has_value());
}

TEST_F(TaskServiceTest, WhenAQueuedTaskIsCancelled_ThenItEndsAtOnceAndAnEndedOneStaysAsItIs) {
  const auto made = submit();

  const auto cancelled = world.run(tasks().cancel(made.task, {})).value();
  const auto again = world.run(tasks().cancel(made.task, {})).value();

  EXPECT_EQ(cancelled.state, store::TaskState::cancelled);
  EXPECT_EQ(again.state, store::TaskState::cancelled);
  EXPECT_EQ(world.run(tasks().cancel(TaskId::assume("task_x"), {})).error().code(), ErrorCode::not_found);
}

// An end of the hub's own making is nowhere but in its row: a crash before that is durable undoes it.
TEST_F(TaskServiceTest, WhenAnEndOfTheHubIsNotDurable_ThenNobodyIsToldOfItBeforeItIs) {
  auto order = world.order({"true"});
  order.queue_timeout = 5s;
  const auto made = submit(std::move(order));
  world.database().set_fault(ErrorCode::disk_full);
  world.pass(6s);

  EXPECT_EQ(row(made.task).state, store::TaskState::queued);
  const auto waited = world.run(tasks().wait_ended(made.task, world.clock().now() + 3s)).value();
  EXPECT_EQ(waited.state, store::TaskState::queued);
  OutputReader reader(world.hub().stream_sources(), made.stream, 0);
  EXPECT_EQ(world.run(reader.next(1U << 16U, OutputReader::Wait::no)).value().bytes, 0U);

  world.database().set_fault(std::nullopt);
  EXPECT_EQ(ended(made.task).error_code, "queue_timeout");
  EXPECT_TRUE(world.run(reader.next(1U << 16U, OutputReader::Wait::for_more)).value().next.complete);
}

TEST_F(TaskServiceTest, WhenInputComesInPieces_ThenTheNodeGetsEachByteOnce) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  auto order = world.order({"cat"});
  order.has_stdin = true;
  const auto made = submit(std::move(order));
  const auto stdin_stream = row(made.task).stdin_stream;
  const auto append = [&](std::uint64_t offset, Bytes bytes, bool is_last = false) {
    return world.run(tasks().append_stdin(made.task, {offset, std::move(bytes), is_last}));
  };

  EXPECT_EQ(append(0, "hello ").value().offset, 6U);
  EXPECT_EQ(append(0, "hello ").value().offset, 6U);
  EXPECT_EQ(append(7, "late").error().code(), ErrorCode::conflict);
  EXPECT_EQ(append(3, "lo world").value().offset, 11U);
  node.cut();
  ASSERT_TRUE(node.attach());
  EXPECT_EQ(append(11, "!", true).value(), (stream::StreamPosition{12, true}));
  EXPECT_EQ(append(12, "more").error().code(), ErrorCode::conflict);
  world.pass(1s);

  EXPECT_EQ(node.inputs().at(stdin_stream), "hello world!");
}

TEST_F(TaskServiceTest, WhenANodeIsRemoved_ThenItsSessionEndsAndWhatRanThereIsLost) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(1s);

  ASSERT_TRUE(world.run(world.hub().nodes().remove("alpha")).has_value());
  world.pass(2s);

  EXPECT_FALSE(node.is_attached());
  EXPECT_EQ(node.failure()->code(), ErrorCode::node_removed);
  EXPECT_EQ(row(made.task).state, store::TaskState::lost);
  EXPECT_FALSE(node.attach());
  EXPECT_EQ(node.failure()->code(), ErrorCode::node_removed);
}

TEST_F(TaskServiceTest, WhenTheHubEndsInOrder_ThenNodesAreToldWhenToComeBack) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());

  world.run([](Hub& hub) -> Task<bool> {
    co_await hub.join();
    co_return true;
  }(world.hub()));
  world.pass(2s);

  EXPECT_FALSE(node.is_attached());
  EXPECT_EQ(node.failure()->code(), ErrorCode::draining);
  EXPECT_TRUE(transport::retry_after_of(*node.failure()).has_value());
}

}  // namespace
}  // namespace outhaul::hub
