#include "store/sqlite_handoff.h"

#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

namespace outhaul::store {
namespace {

constexpr std::chrono::milliseconds no_time{0};
// As good as never in a test.
constexpr std::chrono::milliseconds long_time = std::chrono::hours(1);

class Handoff : public ::testing::Test {
 protected:
  std::shared_ptr<Pending<Transaction>> some_work() {
    return std::make_shared<Pending<Transaction>>(io_.get_executor(), nullptr);
  }
  asio::io_context io_;
};

TEST_F(Handoff, WhenMoreWaitThanAGroupHolds_ThenTheOldestAreTakenInOrder) {
  HandoffQueue<Transaction> queue(10, no_time);
  Group<Transaction> put;
  for (int i = 0; i < 5; ++i) put.push_back(some_work());
  for (const auto& pending : put) ASSERT_TRUE(queue.put(pending, Urgency::now));

  const auto first = queue.take(3);
  const auto second = queue.take(3);

  EXPECT_EQ(first, Group<Transaction>(put.begin(), put.begin() + 3));
  EXPECT_EQ(second, Group<Transaction>(put.begin() + 3, put.end()));
}

TEST_F(Handoff, WhenTheQueueIsFull_ThenOneMoreIsRefusedUntilSomeAreTaken) {
  HandoffQueue<Transaction> queue(2, no_time);
  ASSERT_TRUE(queue.put(some_work(), Urgency::now));
  ASSERT_TRUE(queue.put(some_work(), Urgency::now));

  EXPECT_FALSE(queue.put(some_work(), Urgency::now));
  static_cast<void>(queue.take(1));
  EXPECT_TRUE(queue.put(some_work(), Urgency::now));
}

TEST_F(Handoff, WhenItIsClosed_ThenWhatWaitsIsStillTakenAndThenNothing) {
  HandoffQueue<Transaction> queue(2, no_time);
  ASSERT_TRUE(queue.put(some_work(), Urgency::now));

  queue.close();

  EXPECT_EQ(queue.take(5).size(), 1U);
  EXPECT_TRUE(queue.take(5).empty());
}

TEST_F(Handoff, WhenAThreadWaits_ThenPutWakesIt) {
  HandoffQueue<Transaction> queue(2, no_time);
  Group<Transaction> taken;
  std::thread server([&] { taken = queue.take(5); });

  const auto pending = some_work();
  ASSERT_TRUE(queue.put(pending, Urgency::now));
  server.join();

  EXPECT_EQ(taken, Group<Transaction>{pending});
}

TEST_F(Handoff, WhenNobodyWaitsForWhatIsThere_ThenItGoesWithTheNextThatSomebodyWaitsFor) {
  HandoffQueue<Transaction> queue(10, long_time);
  Group<Transaction> put = {some_work(), some_work(), some_work()};
  ASSERT_TRUE(queue.put(put[0], Urgency::soon));
  ASSERT_TRUE(queue.put(put[1], Urgency::soon));
  Group<Transaction> taken;
  std::thread server([&] { taken = queue.take(5); });

  ASSERT_TRUE(queue.put(put[2], Urgency::now));
  server.join();

  EXPECT_EQ(taken, put);
}

TEST_F(Handoff, WhenNobodyWaitsAndTheTimeIsOver_ThenItIsTaken) {
  HandoffQueue<Transaction> queue(10, no_time);
  ASSERT_TRUE(queue.put(some_work(), Urgency::soon));

  EXPECT_EQ(queue.take(5).size(), 1U);
}

TEST_F(Handoff, WhenItIsClosed_ThenNothingWaitsForCompany) {
  HandoffQueue<Transaction> queue(10, long_time);
  ASSERT_TRUE(queue.put(some_work(), Urgency::soon));

  queue.close();

  EXPECT_EQ(queue.take(5).size(), 1U);
}

}  // namespace
}  // namespace outhaul::store
