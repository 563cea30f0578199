#include "hub/restore.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "audit/log_files.h"
#include "hub/audit/hub_audit.h"
#include "hub/nodes/enrolment.h"
#include "hub/nodes/node_service.h"
#include "store/memory_tables.h"
#include "testing/hub_world.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using testing::HubWorld;
using testing::ScriptNode;

class RestoreTest : public ::testing::Test {
 protected:
  TaskService& tasks() { return world.hub().tasks(); }
  Submission submit() { return world.run(tasks().submit(world.order({"true"}))).value(); }
  store::TaskRow row(const TaskId& id) { return world.run(tasks().load(id)).value(); }
  std::string reason(const TaskId& id, const std::string& node) {
    for (const auto& waiting : tasks().waiting(id)) {
      if (waiting.node_name == node) return std::string(name_of(waiting.code)) + ": " + waiting.reason;
    }
    return "none";
  }

  HubWorld world;
};

TEST_F(RestoreTest, WhenAQueuedTaskRanAfterTheBackupAndIsForgotten_ThenItEndsAndIsNeverSentAgain) {
  ScriptNode node(world, world.enrol("alpha"));
  const auto made = submit();
  world.back_up();
  ASSERT_TRUE(node.attach());
  world.pass(2s);
  ASSERT_EQ(row(made.task).state, store::TaskState::finished);
  ASSERT_TRUE(node.has_acknowledgement(made.stream));

  world.restore();
  ASSERT_EQ(row(made.task).state, store::TaskState::queued);
  node.forget(made.task);
  ASSERT_TRUE(node.attach());
  world.pass(10min);

  EXPECT_EQ(row(made.task).state, store::TaskState::lost);
  EXPECT_EQ(row(made.task).error_code, "hub_restored");
  EXPECT_EQ(node.arrivals().size(), 1U);
}

TEST_F(RestoreTest, WhenANodeStillHoldsATaskThatTheBackupHasQueued_ThenItIsHandedOverAndRanOnce) {
  ScriptNode node(world, world.enrol("alpha"));
  ScriptNode other(world, world.enrol("beta"));
  node.answer = ScriptNode::Answer::accept;
  const auto made = submit();
  world.back_up();
  ASSERT_TRUE(node.attach());
  world.pass(2s);
  node.begin_output(made.task, "half");

  world.restore();
  ASSERT_TRUE(other.attach());
  ASSERT_TRUE(node.attach());
  world.pass(2s);
  EXPECT_EQ(row(made.task).node, node.arrivals().at(0).spec.audience);
  EXPECT_FALSE(row(made.task).is_in_doubt);
  node.finish(made.task, 7);
  world.pass(2s);

  EXPECT_EQ(row(made.task).state, store::TaskState::finished);
  EXPECT_EQ(node.started(made.task) + other.started(made.task), 1U);
  EXPECT_EQ(world.tables().tasks.find(made.task)->node, node.arrivals().at(0).spec.audience);
  EXPECT_TRUE(node.has_acknowledgement(made.stream));
}

TEST_F(RestoreTest, WhenANodeHasNotAttachedYet_ThenADoubtfulTaskWaitsForItPastItsDeadlineAndSaysSo) {
  const auto alpha = world.enrol("alpha");
  ScriptNode beta(world, world.enrol("beta"));
  const auto made = submit();
  world.back_up();

  world.restore();
  ASSERT_TRUE(beta.attach());
  world.pass(30min);

  EXPECT_EQ(row(made.task).state, store::TaskState::queued);
  EXPECT_TRUE(reason(made.task, "alpha").starts_with("hub_restored: "));
  EXPECT_EQ(reason(made.task, "beta"), "none");
  ASSERT_TRUE(world.run(world.hub().nodes().remove("alpha")));
  world.pass(2s);
  EXPECT_EQ(row(made.task).error_code, "hub_restored");
  EXPECT_TRUE(beta.arrivals().empty());
}

TEST_F(RestoreTest, WhenTheHubDiesBeforeADoubtIsSettled_ThenTheTaskIsStillInDoubt) {
  ScriptNode node(world, world.enrol("alpha"));
  const auto made = submit();
  world.back_up();
  world.restore();

  world.crash();
  world.boot();
  ASSERT_TRUE(node.attach());
  world.pass(2s);

  EXPECT_EQ(row(made.task).error_code, "hub_restored");
  EXPECT_TRUE(node.arrivals().empty());
}

TEST_F(RestoreTest, WhenAnotherNodeClaimsADoubtfulTaskWithoutProof_ThenItIsNotBoundToIt) {
  ScriptNode node(world, world.enrol("alpha"));
  ScriptNode thief(world, world.enrol("beta"));
  node.answer = ScriptNode::Answer::accept;
  const auto made = submit();
  world.back_up();
  ASSERT_TRUE(node.attach());
  world.pass(2s);
  thief.claim(node.arrivals().at(0));
  thief.begin_output(made.task, "stolen");
  node.begin_output(made.task, "mine");

  world.restore();
  ASSERT_TRUE(thief.attach());
  world.pass(5s);
  EXPECT_TRUE(row(made.task).node.is_empty());
  ASSERT_TRUE(node.attach());
  node.finish(made.task);
  world.pass(5s);

  EXPECT_EQ(row(made.task).state, store::TaskState::finished);
  EXPECT_EQ(row(made.task).node, node.arrivals().at(0).spec.audience);
}

TEST_F(RestoreTest, WhenATaskCameAfterTheBackup_ThenItsNodeBringsItBack) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  world.back_up();
  const auto made = submit();
  world.pass(2s);
  node.begin_output(made.task, "half");

  world.restore();
  ASSERT_TRUE(node.attach());
  node.finish(made.task, 3);
  world.pass(2s);

  EXPECT_EQ(row(made.task).state, store::TaskState::finished);
  EXPECT_EQ(row(made.task).owner, world.admin().account);
  EXPECT_EQ(node.started(made.task), 1U);
}

TEST_F(RestoreTest, WhenAnAcceptedTaskEndedAfterTheBackup_ThenItIsLostWithTheReason) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = submit();
  world.pass(2s);
  world.back_up();
  node.forget(made.task);

  world.restore();
  ASSERT_TRUE(node.attach());
  world.pass(2s);

  EXPECT_EQ(row(made.task).state, store::TaskState::lost);
  EXPECT_EQ(row(made.task).error_code, "hub_restored");
}

TEST_F(RestoreTest, WhenOneBackupIsRestoredTwice_ThenEachHubSignsUnderAFenceOfItsOwn) {
  ScriptNode node(world, world.enrol("alpha"));
  world.back_up();
  std::vector<std::uint64_t> epochs;

  for (int i = 0; i < 3; ++i) {
    if (i > 0) world.restore();
    ASSERT_TRUE(node.attach());
    submit();
    world.pass(2s);
    epochs.push_back(node.arrivals().back().spec.fence.epoch);
    EXPECT_EQ(node.welcome().hub_epoch(), epochs.back());
  }

  EXPECT_LT(epochs[0], epochs[1]);
  EXPECT_LT(epochs[1], epochs[2]);
}

TEST_F(RestoreTest, WhenTheAuditLogGoesOnAfterARestore_ThenItIsWholeAndNamesIt) {
  world.back_up();
  world.pass(5s);

  world.restore();
  ASSERT_TRUE(world.run(world.hub().audit().log().settle()));

  audit::DiskFiles files(world.disk());
  const auto view = audit::read_journal_view(files);
  ASSERT_TRUE(view);
  const auto report = audit::check_log(files, *view, {}).value();
  EXPECT_TRUE(report.is_whole());
  EXPECT_TRUE(std::ranges::any_of(
      report.notices, [](const auto& notice) { return notice.what.starts_with("log.restored epoch="); }));
}

TEST_F(RestoreTest, WhenAnEnrolmentTokenWasUnusedInTheBackup_ThenItIsWorthNothingAfterwards) {
  NodeTokenWish wish;
  wish.expires_in = 24h;
  wish.created_by = world.admin().account;
  ASSERT_TRUE(world.run(world.hub().enrolment().create_token(wish)));
  world.back_up();

  world.restore();

  EXPECT_TRUE(world.tables().enrolment_tokens.rows().empty());
}

}  // namespace
}  // namespace outhaul::hub
