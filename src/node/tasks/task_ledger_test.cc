#include "node/tasks/task_ledger.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "stream/memory_disk.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"
#include "testing/test_keys.h"

namespace outhaul::node {
namespace {

class AllowAll final : public wire::TaskRules {
 public:
  Result<void> check_owner(const wire::TaskSpec&) const override { return {}; }
  Result<void> check_policy(const wire::TaskSpec&) const override { return {}; }
  Result<void> check_consent(const wire::TaskSpec&) const override { return {}; }
  Result<void> check_capacity(const wire::TaskSpec&) const override { return {}; }
};

// A ledger of one process's life, over a disk that outlives it.
struct LedgerLife {
  LedgerLife(asio::io_context& io, testing::ManualClock& clock, stream::MemoryDiskImage& image)
      : disk(image, io.get_executor(), clock),
        gate({NodeId(), "example.org"}, rules, [](const TaskId&) { return std::nullopt; }),
        ledger(gate) {
    auto opened = testing::run_task(io, stream::Journal::open(disk, {&ledger}));
    if (opened) journal = std::move(*opened);
  }
  stream::MemoryDisk disk;
  AllowAll rules;
  wire::TaskGate gate;
  TaskLedger ledger;
  std::unique_ptr<stream::Journal> journal;
};

class TaskLedgerTest : public ::testing::Test {
 protected:
  TaskEntry make_entry() {
    TaskEntry entry;
    entry.spec.task_id = deployment_.make_id<TaskId>();
    entry.spec.issuer = deployment_.name();
    entry.spec.audience = deployment_.make_id<NodeId>();
    entry.spec.owner = deployment_.make_id<AccountId>();
    entry.spec.issued_at = clock_.wall_now();
    entry.spec.expires_at = clock_.wall_now() + std::chrono::minutes(5);
    entry.spec.nonce = deployment_.random().bytes(wire::task_nonce_bytes);
    entry.spec.action = wire::EchoAction{"x"};
    entry.spec.stream_id = deployment_.make_id<StreamId>();
    const auto key = crypto::SigningKey::generate(deployment_.random());
    entry.envelope = wire::sign_task(entry.spec, deployment_.make_id<KeyId>(), key).value();
    entry.incarnation = stream::Incarnation::make(deployment_.random());
    entry.phase = TaskPhase::starting;
    return entry;
  }
  static wire::GateRecord gate_record(const TaskEntry& entry) {
    return {.task_id = entry.spec.task_id,
            .nonce = entry.spec.nonce,
            .issued_at = entry.spec.issued_at,
            .mark = entry.spec.issued_at,
            .fence_epoch = 3,
            .stream_id = entry.spec.stream_id,
            .refused = std::nullopt};
  }
  std::unique_ptr<LedgerLife> live() { return std::make_unique<LedgerLife>(io_, clock_, image_); }

  asio::io_context io_{1};
  testing::ManualClock clock_;
  testing::TestDeployment deployment_;
  stream::MemoryDiskImage image_;
};

TEST_F(TaskLedgerTest, WhenTheProcessIsReplaced_ThenEveryChangeIsThereAgainAlsoAfterACheckpoint) {
  const auto entry = make_entry();
  const auto task = entry.spec.task_id;
  auto life = live();
  ASSERT_TRUE(life->ledger.append_admitted(*life->journal, gate_record(entry), entry).has_value());
  ASSERT_TRUE(life->ledger.append_reason(*life->journal, task, EndReason::cancelled).has_value());
  OutputTotals totals;
  totals.offset = 100;
  totals.out_bytes = 60;
  totals.out_hash.update("abc");
  ASSERT_TRUE(life->ledger.append_totals(*life->journal, task, totals).has_value());

  for (const bool with_checkpoint : {false, true}) {
    SCOPED_TRACE(with_checkpoint);
    if (with_checkpoint) ASSERT_TRUE(life->journal->checkpoint().has_value());
    life.reset();
    life = live();

    const auto* found = life->ledger.find(task);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->spec, entry.spec);
    EXPECT_EQ(found->envelope, entry.envelope);
    EXPECT_EQ(found->incarnation, entry.incarnation);
    EXPECT_EQ(found->phase, TaskPhase::starting);
    EXPECT_EQ(found->end_reason, EndReason::cancelled);
    ASSERT_TRUE(found->totals.has_value());
    EXPECT_EQ(found->totals->out_bytes, 60U);
    EXPECT_EQ(found->totals->out_hash.digest(), totals.out_hash.digest());
    EXPECT_EQ(life->ledger.find_by_stream(entry.spec.stream_id), found);
  }
}

// A nonce that is used without its task would have the task answered as known, and never run.
TEST_F(TaskLedgerTest, WhenThePowerFailsWithinAnAdmission_ThenNonceAndTaskAreBothThereOrNeither) {
  const auto entry = make_entry();
  auto life = live();
  const std::uint64_t before = life->journal->file_bytes();
  ASSERT_TRUE(life->ledger.append_admitted(*life->journal, gate_record(entry), entry).has_value());
  const std::uint64_t after = life->journal->file_bytes();
  life.reset();
  const Bytes whole = image_.files.begin()->second->bytes;

  for (std::uint64_t size = before; size <= after; ++size) {
    SCOPED_TRACE(size);
    image_.files.begin()->second->bytes = whole.substr(0, size);
    life = live();

    ASSERT_NE(life->journal, nullptr);
    EXPECT_EQ(life->ledger.find(entry.spec.task_id) != nullptr, size == after);
    EXPECT_EQ(life->gate.live_records().size(), size == after ? 1U : 0U);
    EXPECT_EQ(life->gate.fence_epoch(), size == after ? 3U : 0U);
    life.reset();
  }
}

TEST_F(TaskLedgerTest, WhenATaskIsDone_ThenOnlyThatItEndedIsRemembered) {
  const auto entry = make_entry();
  auto life = live();
  ASSERT_TRUE(life->ledger.append_admitted(*life->journal, gate_record(entry), entry).has_value());
  ASSERT_TRUE(life->ledger.append_phase(*life->journal, entry.spec.task_id, TaskPhase::ended).has_value());
  ASSERT_TRUE(life->ledger.append_done(*life->journal, entry.spec.task_id).has_value());

  life.reset();
  life = live();

  EXPECT_EQ(life->ledger.find(entry.spec.task_id), nullptr);
  EXPECT_EQ(life->ledger.find_by_stream(entry.spec.stream_id), nullptr);
  EXPECT_TRUE(life->ledger.is_done(entry.spec.task_id));
}

TEST_F(TaskLedgerTest, WhenStartsHaveNoOrderlyEnd_ThenTheyCountAsCrashes) {
  const bool ends_in_order[] = {false, true, false, false};
  const std::uint64_t crashes[] = {0, 1, 1, 2};
  for (std::size_t i = 0; i < std::size(ends_in_order); ++i) {
    SCOPED_TRACE(i);
    auto life = live();

    ASSERT_TRUE(life->ledger.append_start(*life->journal).has_value());
    EXPECT_EQ(life->ledger.crashes(), crashes[i]);
    if (ends_in_order[i]) ASSERT_TRUE(life->ledger.append_orderly_end(*life->journal).has_value());
  }
}

}  // namespace
}  // namespace outhaul::node
