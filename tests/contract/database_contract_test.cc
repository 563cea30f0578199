// What every Database promises about transactions; the stores' own rules are in the other
// *_contract_test.cc files of the suite.
#include "tests/contract/database_harness.h"

namespace outhaul::store {
namespace {

TEST_P(DatabaseContract, WhenATransactionEnds_ThenItsValueComesBackAndReadsSeeIt) {
  const auto task = some_task();

  const auto epoch = write([&](Transaction& tx) -> Result<std::uint64_t> {
    OUTHAUL_CHECK(tx.tasks.add(task));
    return tx.deployment.raise_hub_epoch(0);
  });

  ASSERT_TRUE(epoch);
  EXPECT_EQ(*epoch, 2U);
  EXPECT_EQ(load_task(task.id), task);
}

TEST_P(DatabaseContract, WhenTheEpochIsRaised_ThenItIsAboveTheLastAndAtLeastWhatIsAsked) {
  const auto raise = [this](std::uint64_t least) {
    return *write([least](Transaction& tx) { return tx.deployment.raise_hub_epoch(least); });
  };

  EXPECT_EQ(raise(0), 2U);
  EXPECT_EQ(raise(1'800'000'000), 1'800'000'000U);
  EXPECT_EQ(raise(1'700'000'000), 1'800'000'001U);
}

TEST_P(DatabaseContract, WhenTheCallableFails_ThenEverythingItDidIsUndone) {
  const auto kept = add_task(some_task());
  const auto dropped = some_task();

  const auto outcome = write([&](Transaction& tx) -> Result<void> {
    OUTHAUL_CHECK(tx.tasks.add(dropped));
    OUTHAUL_CHECK(tx.tasks.request_cancel(kept, WallTime{7}));
    OUTHAUL_CHECK(tx.deployment.put_setting("a", "b"));
    return fail(ErrorCode::exhausted, "not today");
  });

  EXPECT_EQ(code_of(outcome), ErrorCode::exhausted);
  EXPECT_EQ(load_task(dropped.id), TaskRow());
  EXPECT_EQ(load_task(kept).times.cancel_requested_at, std::nullopt);
  const auto setting = read([](ReadTransaction& tx) { return tx.deployment.find_setting("a"); });
  EXPECT_EQ(*setting, std::nullopt);
  EXPECT_EQ(database().counters().rolled_back, 1U);
}

// Starts `count` transactions at once; every third fails after it has written.
struct Crowd {
  std::vector<TaskRow> tasks;
  std::vector<std::optional<Result<void>>> outcomes;
};

Task<void> run_member(Database& database, Crowd& crowd, std::size_t at) {
  auto work = [task = crowd.tasks[at], has_to_fail = at % 3 == 0](Transaction& tx) -> Result<void> {
    OUTHAUL_CHECK(tx.tasks.add(task));
    if (has_to_fail) return fail(ErrorCode::denied, "by turn");
    return {};
  };
  crowd.outcomes[at] = co_await database.transact(std::move(work));
}

// proves P1
TEST_P(DatabaseContract, WhenManyWaitAtOnce_ThenTheyShareCommitsAndAFailureHarmsNoMate) {
  Crowd crowd;
  for (int i = 0; i < 600; ++i) crowd.tasks.push_back(some_task());
  crowd.outcomes.resize(crowd.tasks.size());

  TaskGroup group(harness_->executor());
  for (std::size_t i = 0; i < crowd.tasks.size(); ++i) {
    group.spawn([&, i] { return run_member(database(), crowd, i); });
  }
  harness_->drive(group);

  for (std::size_t i = 0; i < crowd.tasks.size(); ++i) {
    EXPECT_EQ(code_of(*crowd.outcomes[i]), i % 3 == 0 ? std::optional(ErrorCode::denied) : std::nullopt);
    EXPECT_EQ(load_task(crowd.tasks[i].id).id.is_empty(), i % 3 == 0);
  }
  EXPECT_EQ(database().counters().transactions, 400U);
  EXPECT_LT(database().counters().commits, 100U);
}

TEST_P(DatabaseContract, WhenTransactionsWait_ThenTheyTakeEffectInTheOrderOfTheCalls) {
  const auto append = [](Database& to, int i) -> Task<void> {
    auto work = [i](Transaction& tx) -> Result<void> {
      OUTHAUL_TRY(before, tx.deployment.find_setting("order"));
      return tx.deployment.put_setting("order", before.value_or("") + std::to_string(i));
    };
    EXPECT_TRUE(co_await to.transact(std::move(work)));
  };

  TaskGroup group(harness_->executor());
  for (int i = 0; i < 8; ++i) group.spawn([&, i] { return append(database(), i); });
  harness_->drive(group);

  const auto order = read([](ReadTransaction& tx) { return tx.deployment.find_setting("order"); });
  EXPECT_EQ(*order, "01234567");
}

TEST_P(DatabaseContract, WhenItIsOpenedAgain_ThenEverythingAcknowledgedIsThere) {
  const auto task = add_task(some_task());
  ASSERT_TRUE(write([](Transaction& tx) { return tx.deployment.raise_hub_epoch(0); }));

  harness_->reopen();

  EXPECT_EQ(load_task(task).id, task);
  const auto deployment = read([](ReadTransaction& tx) { return tx.deployment.load(); });
  ASSERT_TRUE(deployment);
  EXPECT_EQ(*deployment, (Deployment{.name = "example.test", .hub_epoch = 2, .created_at = WallTime{1}}));
}

TEST_P(DatabaseContract, WhenTheWaiterIsCancelled_ThenTheWorkGoesOn) {
  const auto task = some_task();
  const auto submit = [](Database& to, TaskRow row) -> Task<void> {
    auto work = [row](Transaction& tx) { return tx.tasks.add(row); };
    static_cast<void>(co_await to.transact(std::move(work)));
    ADD_FAILURE() << "the wait went on";
  };
  const auto cancel = [](TaskGroup& victims) -> Task<void> {
    victims.cancel();
    co_return;
  };

  TaskGroup victims(harness_->executor());
  victims.spawn([&] { return submit(database(), task); });
  TaskGroup killers(harness_->executor());
  killers.spawn([&] { return cancel(victims); });
  harness_->drive(killers);
  harness_->drive(victims);

  // Transactions are ordered: after one that came later the cancelled one is decided.
  add_task(some_task());
  EXPECT_EQ(load_task(task.id), task);
}

TEST_P(DatabaseContract, WhenTextLooksLikeSqlOrIsBinary_ThenItIsKeptByteForByte) {
  const std::vector<std::string> texts = {"'; DROP TABLE tasks; --",
                                          "\" OR 1=1",
                                          "?1 :a @b $c",
                                          "%_*[a]",
                                          std::string("nul\0in", 6),
                                          "\xff\xfe\x80",
                                          "\xd1\x83\xe2\x82\xac",
                                          "line\nend",
                                          "\\'\\\"",
                                          ""};
  for (const auto& text : texts) {
    SCOPED_TRACE("<" + text + ">");
    auto task = some_task();
    task.action_summary = text;
    task.selector_json = text;
    task.error_message = text;
    task.envelope = text;

    add_task(task);

    EXPECT_EQ(load_task(task.id), task);
  }
}

INSTANTIATE_TEST_SUITE_P(Adapters, DatabaseContract, ::testing::Values("memory", "sqlite"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace outhaul::store
