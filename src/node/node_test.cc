// What a node does with tasks, streams and sessions.
#include <csignal>

#include "audit/audit_entry.h"
#include "audit/receipt.h"
#include "crypto/digest.h"
#include "testing/node_fixture.h"

namespace outhaul::node {
namespace {

// proves C1
// proves C5
TEST_F(NodeTest, WhenATaskIsDispatched_ThenItsOutputAndResultArrive) {
  live();
  const auto task = shell("hello");

  hub_.dispatch(task);
  settle();

  ASSERT_TRUE(hub_.answers().at(task.task_id).has_value());
  const auto* held = hub_.find(task.stream_id);
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(held->out, "hello");
  EXPECT_EQ(held->err, "world");
  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(result_of(task)->end, wire::TaskEnd(wire::Exited{3}));
  EXPECT_EQ(result_of(task)->out.bytes, 5U);
  EXPECT_EQ(life_->node.running(), 0U);
}

// proves A6
TEST_F(NodeTest, WhenTheHubRemovesTheNode_ThenItEndsWhatItRunsKeepsItsDataAndEnds) {
  live();
  const auto polite = shell("slow");
  auto stubborn = shell("stubborn");
  stubborn.term_grace = 5s;
  hub_.dispatch(polite);
  hub_.dispatch(stubborn);
  settle();

  hub_.turn_away(ErrorCode::node_removed);
  pass(1s);
  // TERM first: one that ignores it has its grace.
  EXPECT_EQ(life_->node.running(), 1U);
  EXPECT_FALSE(life_->ended.has_value());
  pass(6s);

  EXPECT_EQ(life_->node.running(), 0U);
  ASSERT_TRUE(life_->ended.has_value());
  EXPECT_EQ(life_->ended->error().code(), ErrorCode::node_removed);
  EXPECT_FALSE(hub_.is_attached());
  EXPECT_EQ(life_->node.undelivered(), 2U);
  const auto actions = audited(node_keys_.identity().node.text());
  EXPECT_NE(std::ranges::find(actions, "node.removed"), actions.end());
}

// proves A6
TEST_F(NodeTest, WhenANodeHearsThatItWasRemovedOnlyAfterARestart_ThenItEndsWhatTheLauncherKept) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();
  kill();
  hub_.refuses = ErrorCode::node_removed;

  live();
  pass(1s);

  ASSERT_TRUE(life_->ended.has_value());
  EXPECT_EQ(life_->ended->error().code(), ErrorCode::node_removed);
  EXPECT_EQ(life_->node.running(), 0U);
}

// proves A6
TEST_F(NodeTest, WhenAHubRefusesForAnotherReason_ThenWhatRunsGoesOn) {
  settings_.slots = 8;
  for (const auto reason :
       {ErrorCode::node_unknown, ErrorCode::unauthenticated, ErrorCode::certificate_invalid,
        ErrorCode::draining, ErrorCode::denied, ErrorCode::internal}) {
    SCOPED_TRACE(name_of(reason));
    hub_.refuses.reset();
    live();
    hub_.dispatch(shell("stubborn"));
    settle();
    const auto running = life_->node.running();
    ASSERT_GT(running, 0U);

    hub_.turn_away(reason);
    pass(2min);

    EXPECT_EQ(life_->node.running(), running);
    EXPECT_FALSE(life_->ended.has_value());
    kill();
  }
}

// proves A11
TEST_F(NodeTest, WhenAShortLivedNodeHasItsTasks_ThenItTakesNoMoreAndIsSpentOnceTheyAreDelivered) {
  settings_.most_tasks = 1;
  live();
  bool is_spent = false;
  life_->group.spawn([this, &is_spent]() -> Task<void> {
    co_await life_->node.wait_spent({1, {}});
    is_spent = true;
  });
  const auto slow = shell("slow");
  const auto more = shell("hello");
  hub_.dispatch(slow);
  settle();

  hub_.dispatch(more);
  settle();

  EXPECT_EQ(refusal_of(more), ErrorCode::draining);
  EXPECT_FALSE(is_spent);
  EXPECT_EQ(life_->node.undelivered(), 1U);
  pass(70s);
  ASSERT_NE(result_of(slow), nullptr);
  EXPECT_TRUE(is_spent);
  EXPECT_EQ(life_->node.undelivered(), 0U);
}

// proves A11
TEST_F(NodeTest, WhenNothingComesForTheIdleTime_ThenAShortLivedNodeIsSpent) {
  live();
  bool is_spent = false;
  life_->group.spawn([this, &is_spent]() -> Task<void> {
    co_await life_->node.wait_spent({{}, 90s});
    is_spent = true;
  });
  pass(50s);
  hub_.dispatch(shell("slow"));

  pass(140s);
  EXPECT_FALSE(is_spent);
  pass(20s);

  EXPECT_TRUE(is_spent);
}

// proves C11
// proves X1
TEST_F(NodeTest, WhenTheDiskStaysFull_ThenTheTaskFailsWithWhatItWroteAndTheRestIsAGap) {
  machine_.teach("floods", {"out=kept", "wait=1s", "fill=200000", "exit=0"});
  live();
  const auto writer = shell("floods");
  const auto other = shell("slow");
  hub_.dispatch(writer);
  hub_.dispatch(other);
  settle();

  image_.capacity = image_.used_bytes() + 200;
  pass(30s);

  const auto* failed = result_of(writer);
  ASSERT_NE(failed, nullptr);
  ASSERT_TRUE(std::holds_alternative<wire::Failed>(failed->end));
  EXPECT_EQ(std::get<wire::Failed>(failed->end).code, ErrorCode::node_disk_full);
  EXPECT_NE(std::get<wire::Failed>(failed->end).message.find("floor of 0 bytes"), std::string::npos);
  const auto& out = hub_.find(writer.stream_id)->out;
  EXPECT_TRUE(out.starts_with("kept"));
  EXPECT_EQ(out.size() + failed->bytes_left_out, failed->out.bytes);
  EXPECT_GT(failed->bytes_left_out, 0U);
  EXPECT_TRUE(hub_.is_attached());
  // The other one goes on, and ends once there is room for what it says.
  EXPECT_EQ(result_of(other), nullptr);
  image_.capacity = std::uint64_t{1} << 40U;
  pass(60s);
  ASSERT_NE(result_of(other), nullptr);
  EXPECT_EQ(std::get<wire::Exited>(result_of(other)->end).code, 0);
}

TEST_F(NodeTest, WhenAFullDiskIsEmptiedInTime_ThenNothingIsLost) {
  machine_.teach("floods", {"out=kept", "wait=1s", "fill=200000", "exit=0"});
  live();
  const auto task = shell("floods");
  auto echo = hub_.make_task();
  echo.action = wire::EchoAction{std::string(3000, 'e')};
  hub_.dispatch(task);
  settle();

  image_.capacity = image_.used_bytes() + 2500;
  hub_.dispatch(echo);
  pass(8s);
  image_.capacity = std::uint64_t{1} << 40U;
  pass(5s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(std::get<wire::Exited>(result_of(task)->end).code, 0);
  EXPECT_EQ(hub_.find(task.stream_id)->out.size(), 200'004U);
  ASSERT_NE(result_of(echo), nullptr);
  EXPECT_EQ(hub_.find(echo.stream_id)->out.size(), 3000U);
}

TEST_F(NodeTest, WhenATaskIsAnEcho_ThenNothingIsStarted) {
  live();
  auto task = hub_.make_task();
  task.action = wire::EchoAction{"are you there"};

  hub_.dispatch(task);
  settle();

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "are you there");
  EXPECT_TRUE(machine_.starts().empty());
}

// proves C3
// proves X18
TEST_F(NodeTest, WhenATaskIsDispatchedTwiceAndAgainAfterACrash_ThenItRanOnce) {
  live();
  const auto task = shell("slow");
  const Bytes envelope = hub_.sign(task);
  hub_.dispatch(task, envelope);
  settle();

  hub_.dispatch(task, envelope);
  settle();
  EXPECT_EQ(refusal_of(task), ErrorCode::task_replayed);
  kill();
  live();
  pass(2s);
  hub_.dispatch(task, envelope);
  pass(90s);

  EXPECT_EQ(refusal_of(task), ErrorCode::task_replayed);
  EXPECT_EQ(machine_.starts().at(task.task_id), 1);
  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "before after");
}

// proves B6
TEST_F(NodeTest, WhenTheLinkIsCutWhileATaskRuns_ThenEveryByteArrivesOnce) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();

  hub_.is_away = true;
  hub_.cut();
  pass(70s);
  EXPECT_EQ(result_of(task), nullptr);
  hub_.is_away = false;
  pass(40s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "before after");
}

// proves X13
TEST_F(NodeTest, WhenATaskEndsWhileTheHubIsAwayAndTheNodeRestarts_ThenTheResultArrivesLater) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();
  hub_.is_away = true;
  hub_.cut();
  pass(70s);

  kill();
  live();
  EXPECT_EQ(result_of(task), nullptr);
  hub_.is_away = false;
  pass(40s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(result_of(task)->end, wire::TaskEnd(wire::Exited{0}));
  EXPECT_EQ(hub_.find(task.stream_id)->out, "before after");
}

TEST_F(NodeTest, WhenTheNodeDiesInTheMiddleOfAFlood_ThenNoByteIsLostOrDoubled) {
  live();
  const auto task = shell("flood");
  hub_.dispatch(task);
  for (int i = 0; i < 40; ++i) io_.poll_one();

  kill();
  live();
  pass(5s);

  ASSERT_NE(result_of(task), nullptr);
  const auto& out = hub_.find(task.stream_id)->out;
  ASSERT_EQ(out.size(), 3'000'000U);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], testing::fill_byte(i)) << i;
  EXPECT_EQ(result_of(task)->out.bytes, 3'000'000U);
}

// proves X16
TEST_F(NodeTest, WhenLauncherAndNodeDie_ThenTheTaskIsLostAndNotRunAgain) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();

  kill();
  machine_.crash();
  live();
  pass(5s);

  ASSERT_NE(result_of(task), nullptr);
  const auto* failed = std::get_if<wire::Failed>(&result_of(task)->end);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->code, ErrorCode::task_lost);
  EXPECT_EQ(machine_.starts().at(task.task_id), 1);
}

TEST_F(NodeTest, WhenTheLauncherAloneDies_ThenTheTaskIsLostAtOnce) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();

  life_->launcher.crash();
  settle();

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(std::get<wire::Failed>(result_of(task)->end).code, ErrorCode::task_lost);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "before ");
}

// proves C4
TEST_F(NodeTest, WhenAProgramRunsForAMoment_ThenTheHubIsToldOnceASession) {
  live();
  auto task = shell("stubborn");
  hub_.dispatch(task);
  settle();
  EXPECT_EQ(hub_.times_told_running(task.task_id), 0U);

  pass(1s);
  EXPECT_EQ(hub_.times_told_running(task.task_id), 1U);
  const auto other = shell("stubborn");
  hub_.dispatch(other);
  settle();
  pass(1s);
  EXPECT_EQ(hub_.times_told_running(other.task_id), 1U);
  EXPECT_EQ(hub_.times_told_running(task.task_id), 1U);
  hub_.cut();
  pass(40s);

  EXPECT_EQ(hub_.times_told_running(task.task_id), 2U);
}

// proves C4
// proves X17
TEST_F(NodeTest, WhenATaskThatIgnoresTermIsCancelled_ThenItIsKilledAfterItsGrace) {
  live();
  auto task = shell("stubborn");
  task.term_grace = 3s;
  hub_.dispatch(task);
  settle();

  hub_.cancel(task.task_id);
  settle();
  pass(2s);
  EXPECT_EQ(result_of(task), nullptr);
  pass(2s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(std::get<wire::Failed>(result_of(task)->end).code, ErrorCode::task_cancelled);
  EXPECT_EQ(result_of(task)->processes_killed, 1U);
}

TEST_F(NodeTest, WhenATaskPassesItsTimeLimit_ThenItIsEndedAlsoAcrossARestart) {
  live();
  auto task = shell("slow");
  task.timeout = 30s;
  hub_.dispatch(task);
  settle();

  pass(20s);
  kill();
  live();
  pass(9s);
  EXPECT_EQ(result_of(task), nullptr);
  pass(2s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(std::get<wire::Failed>(result_of(task)->end).code, ErrorCode::task_timed_out);
}

// proves X7
TEST_F(NodeTest, WhenStandardInputIsWritten_ThenTheProgramReadsItOnceAndItIsAcknowledged) {
  live();
  auto task = shell("cat");
  task.stdin_stream_id = deployment_.make_id<StreamId>();
  hub_.dispatch(task);
  settle();

  hub_.write_stdin(*task.stdin_stream_id, "first ", false);
  settle();
  hub_.write_stdin(*task.stdin_stream_id, "first second", true);
  settle();

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "first second");
  EXPECT_EQ(hub_.stdin_acknowledged(*task.stdin_stream_id), 12U);
}

TEST_F(NodeTest, WhenTheOwnersFileAllowsNoLevel_ThenTheTaskIsRefused) {
  settings_.isolation.clear();
  live();
  const auto task = shell("hello");

  hub_.dispatch(task);
  settle();

  EXPECT_EQ(refusal_of(task), ErrorCode::isolation_unavailable);
  EXPECT_TRUE(machine_.starts().empty());
}

// proves B14
TEST_F(NodeTest, WhenTheTargetIsUnknown_ThenTheHubLearnsNothingAndTheLogSaysIt) {
  live();
  auto task = shell("hello");
  task.workspace = "secret";

  hub_.dispatch(task);
  settle();

  EXPECT_EQ(refusal_of(task), ErrorCode::target_unavailable);
  EXPECT_NE(lines_.text.find("workspace:secret"), std::string::npos);
}

TEST_F(NodeTest, WhenEverySlotIsTaken_ThenTheTaskIsRefusedAndMayComeAgain) {
  settings_.slots = 1;
  live();
  hub_.dispatch(shell("slow"));
  settle();
  auto task = shell("hello");
  const Bytes envelope = hub_.sign(task);

  hub_.dispatch(task, envelope);
  settle();
  EXPECT_EQ(refusal_of(task), ErrorCode::node_full);
  pass(61s);
  hub_.dispatch(task, envelope);
  settle();
  EXPECT_EQ(refusal_of(task), ErrorCode::task_replayed);
  task.nonce = Bytes(wire::task_nonce_bytes, 'f');
  hub_.dispatch(task);
  settle();

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(machine_.starts().at(task.task_id), 1);
}

// proves B12
TEST_F(NodeTest, WhenItDrains_ThenNewTasksAreRefusedAndTheRunningOneIsDelivered) {
  live();
  const auto running = shell("slow");
  hub_.dispatch(running);
  settle();
  bool is_drained = false;
  life_->group.spawn([&]() -> Task<void> {
    co_await life_->node.drain(120s, DrainEnd::leave);
    is_drained = true;
  });
  const auto late = shell("hello");

  hub_.dispatch(late);
  settle();
  EXPECT_EQ(refusal_of(late), ErrorCode::draining);
  EXPECT_FALSE(is_drained);
  pass(65s);

  EXPECT_TRUE(is_drained);
  EXPECT_TRUE(life_->ended.has_value());
  EXPECT_NE(result_of(running), nullptr);
}

TEST_F(NodeTest, WhenADrainsLimitPasses_ThenWhatRunsIsLeftToTheNextProcess) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();
  life_->group.spawn([this]() -> Task<void> { co_await life_->node.drain(10s, DrainEnd::leave); });
  settle();

  pass(15s);
  EXPECT_TRUE(life_->ended.has_value());
  kill();
  live();
  pass(60s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "before after");
  EXPECT_EQ(machine_.starts().at(task.task_id), 1);
}

TEST_F(NodeTest, WhenTheHubLostTheStream_ThenItIsShownTheEnvelopeAndGetsEverything) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();

  hub_.forgets_streams = true;
  hub_.lose_everything();
  pass(70s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_TRUE(hub_.find(task.stream_id)->was_shown_envelope);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "before after");
}

TEST_F(NodeTest, WhenTheHubNeverAcknowledges_ThenTheResultIsOfferedToTheNextSession) {
  hub_.acknowledges = false;
  live();
  const auto task = shell("hello");
  hub_.dispatch(task);
  settle();

  hub_.lose_everything();
  hub_.acknowledges = true;
  pass(5s);

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "hello");
}

// proves P4
TEST_F(NodeTest, WhenATaskHasRun_ThenItsReceiptHoldsAndNamesWhatItRan) {
  live();
  const auto task = shell("hello");
  hub_.dispatch(task);
  settle();

  ASSERT_NE(result_of(task), nullptr);
  const auto receipt = audit::open_receipt(result_of(task)->receipt);

  ASSERT_TRUE(receipt.has_value()) << receipt.error().what();
  const crypto::Certificate authorities[] = {deployment_.certificate()};
  EXPECT_TRUE(audit::verify_receipt_signer(*receipt, authorities).has_value());
  EXPECT_TRUE(audit::match_result(*receipt, *result_of(task)).has_value());
  EXPECT_EQ(receipt->owner, task.owner);
  EXPECT_EQ(receipt->exit_code, 3);
  EXPECT_EQ(receipt->streams[0].totals.sha256, crypto::sha256("hello"));
  ASSERT_TRUE(receipt->audit_head.has_value());
  EXPECT_EQ(receipt->audit_head->log, node_keys_.identity().node.text());
  EXPECT_GT(receipt->audit_head->tip.sequence, 0U);
}

// proves N1
TEST_F(NodeTest, WhenTasksRunAreRefusedAndCancelled_ThenTheLogHasEachStep) {
  live();
  const auto ran = shell("hello");
  const auto ended = shell("slow");
  auto refused = shell("hello");
  refused.isolation = wire::IsolationLevel::vm;
  hub_.dispatch(ran);
  hub_.dispatch(ended);
  hub_.dispatch(refused);
  settle();
  hub_.cancel(ended.task_id);
  pass(2s);

  using Actions = std::vector<std::string>;
  EXPECT_EQ(audited(ran.task_id.text()), (Actions{"task.accepted", "task.started", "task.ended"}));
  EXPECT_EQ(audited(ended.task_id.text()),
            (Actions{"task.accepted", "task.started", "task.cancelled", "task.ended task_cancelled"}));
  EXPECT_EQ(audited(refused.task_id.text()), (Actions{"task.refused isolation_unavailable"}));
}

TEST_F(NodeTest, WhenTheNodeIsKilledAndStartsAgain_ThenItsLogGoesOn) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();
  kill();
  live();
  pass(70s);

  ASSERT_NE(result_of(task), nullptr);
  const auto actions = audited(task.task_id.text());
  EXPECT_EQ(actions, (std::vector<std::string>{"task.accepted", "task.started", "task.ended"}));
  EXPECT_GE(audited(node_keys_.identity().node.text()).size(), 2U);
}

}  // namespace
}  // namespace outhaul::node
