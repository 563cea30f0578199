#include "store/sqlite_handoff.h"

#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

namespace outhaul::store {
namespace {

class Handoff : public ::testing::Test {
 protected:
  std::shared_ptr<Pending<Transaction>> some_work() {
    return std::make_shared<Pending<Transaction>>(io_.get_executor(), nullptr);
  }
  asio::io_context io_;
};

TEST_F(Handoff, WhenMoreWaitThanAGroupHolds_ThenTheOldestAreTakenInOrder) {
  HandoffQueue<Transaction> queue(10);
  Group<Transaction> put;
  for (int i = 0; i < 5; ++i) put.push_back(some_work());
  for (const auto& pending : put) ASSERT_TRUE(queue.put(pending));

  const auto first = queue.take(3);
  const auto second = queue.take(3);

  EXPECT_EQ(first, Group<Transaction>(put.begin(), put.begin() + 3));
  EXPECT_EQ(second, Group<Transaction>(put.begin() + 3, put.end()));
}

TEST_F(Handoff, WhenTheQueueIsFull_ThenOneMoreIsRefusedUntilSomeAreTaken) {
  HandoffQueue<Transaction> queue(2);
  ASSERT_TRUE(queue.put(some_work()));
  ASSERT_TRUE(queue.put(some_work()));

  EXPECT_FALSE(queue.put(some_work()));
  static_cast<void>(queue.take(1));
  EXPECT_TRUE(queue.put(some_work()));
}

TEST_F(Handoff, WhenItIsClosed_ThenWhatWaitsIsStillTakenAndThenNothing) {
  HandoffQueue<Transaction> queue(2);
  ASSERT_TRUE(queue.put(some_work()));

  queue.close();

  EXPECT_EQ(queue.take(5).size(), 1U);
  EXPECT_TRUE(queue.take(5).empty());
}

TEST_F(Handoff, WhenAThreadWaits_ThenPutWakesIt) {
  HandoffQueue<Transaction> queue(2);
  Group<Transaction> taken;
  std::thread server([&] { taken = queue.take(5); });

  const auto pending = some_work();
  ASSERT_TRUE(queue.put(pending));
  server.join();

  EXPECT_EQ(taken, Group<Transaction>{pending});
}

}  // namespace
}  // namespace outhaul::store
