#include "audit/witness_book.h"

#include <gtest/gtest.h>

#include "stream/memory_disk.h"
#include "testing/audit_chain.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"

namespace outhaul::audit {
namespace {

using outhaul::testing::AuditChain;
using outhaul::testing::run_task;
using Verdict = WitnessBook::Verdict;

class WitnessBookTest : public ::testing::Test {
 protected:
  void start() {
    journal.reset();
    book = std::make_unique<WitnessBook>();
    disk.emplace(image, io.get_executor(), clock);
    journal = std::move(run_task(io, stream::Journal::open(*disk, {book.get()})).value());
  }
  Verdict take(AuditChain& chain) {
    const auto head = chain.head();
    return book->take(*journal, head, sign_head(head, chain.key()), clock.wall_now()).value();
  }

  asio::io_context io;
  outhaul::testing::ManualClock clock;
  stream::MemoryDiskImage image;
  std::optional<stream::MemoryDisk> disk;
  std::unique_ptr<WitnessBook> book;
  std::unique_ptr<stream::Journal> journal;
};

TEST_F(WitnessBookTest, WhenALogGrows_ThenOnlyItsLatestHeadIsKeptThroughRestarts) {
  start();
  AuditChain chain;
  EXPECT_EQ(take(chain), Verdict::newer);
  EXPECT_EQ(take(chain), Verdict::known);
  chain.add_entries(2);
  EXPECT_EQ(take(chain), Verdict::newer);
  start();

  ASSERT_NE(book->find(chain.log()), nullptr);
  EXPECT_EQ(book->find(chain.log())->head.tip, chain.tip());
  EXPECT_EQ(book->all().size(), 1U);
  EXPECT_EQ(book->find("node_other"), nullptr);
}

// proves X64
TEST_F(WitnessBookTest, WhenALogRunsBackwards_ThenTheHeadThatItContradictsIsKept) {
  start();
  AuditChain chain;
  chain.add_entries(5);
  const auto far = chain.tip();
  EXPECT_EQ(take(chain), Verdict::newer);
  AuditChain cut;
  cut.add_entries(2);
  EXPECT_EQ(take(cut), Verdict::regressed);
  cut.add_entries(1);
  EXPECT_EQ(take(cut), Verdict::newer);
  AuditChain made_again("node_test", 8);
  made_again.add_entries(30);
  EXPECT_EQ(take(made_again), Verdict::regressed);
  ASSERT_TRUE(journal->checkpoint().has_value());
  start();

  const auto all = book->all_of(chain.log());

  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].head.tip, far);
  EXPECT_EQ(all[1].head.tip, cut.tip());
  EXPECT_EQ(all[2].head.tip, made_again.tip());
}

TEST_F(WitnessBookTest, WhenHeadsContradictForever_ThenTheBookStaysSmall) {
  start();
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    AuditChain chain("node_test", seed);
    take(chain);
  }

  EXPECT_EQ(book->all().size(), WitnessBook::max_contradicted + 1);
}

TEST_F(WitnessBookTest, WhenTheDiskIsFull_ThenNothingIsTaken) {
  start();
  AuditChain chain;
  disk->faults.fail_appends = true;

  const auto taken = book->take(*journal, chain.head(), sign_head(chain.head(), chain.key()), {});

  EXPECT_FALSE(taken.has_value());
  EXPECT_EQ(book->find(chain.log()), nullptr);
}

}  // namespace
}  // namespace outhaul::audit
