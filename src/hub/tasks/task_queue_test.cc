#include "hub/tasks/task_queue.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "hub/tasks/live_task.h"
#include "testing/seeded_random.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

class TaskQueueTest : public ::testing::Test {
 protected:
  LiveTaskPtr make(std::string node, bool is_saved = true) {
    auto task = std::make_shared<LiveTask>(io_.get_executor());
    now_ += 1ms;
    task->row.id = TaskId::make(WallTime{now_.count()}, random_);
    task->selector.node = std::move(node);
    task->queue_deadline = TimePoint(now_ + 60s);
    if (is_saved) task->saved.set();
    return task;
  }
  std::vector<TaskId> heads() const {
    std::vector<TaskId> ids;
    for (const auto& [id, task] : queue_.heads()) ids.push_back(id);
    return ids;
  }

  asio::io_context io_{1};
  testing::SeededRandom random_{1};
  std::chrono::nanoseconds now_ = 1h;
  TaskQueue queue_;
};

TEST_F(TaskQueueTest, WhenTasksNeedTheSame_ThenOnlyTheOldestIsAHead) {
  const auto first = make("a");
  const auto second = make("a");
  const auto other = make("b");
  for (const auto& task : {other, second, first}) queue_.add(task);

  EXPECT_EQ(heads(), (std::vector{first->row.id, other->row.id}));
  queue_.remove(*first);
  EXPECT_EQ(heads(), (std::vector{second->row.id, other->row.id}));
  EXPECT_EQ(queue_.head_like(*first), second);
  queue_.remove(*second);
  EXPECT_EQ(queue_.head_like(*first), nullptr);
  EXPECT_EQ(queue_.size(), 1U);
}

TEST_F(TaskQueueTest, WhenTheyNeedDifferentIsolation_ThenBothAreHeads) {
  const auto trusted = make("a");
  const auto native = make("a");
  native->spec.isolation = wire::IsolationLevel::native;
  queue_.add(trusted);
  queue_.add(native);

  EXPECT_EQ(heads(), (std::vector{trusted->row.id, native->row.id}));
}

TEST_F(TaskQueueTest, WhenARowIsNotDurableYet_ThenTheNextOneIsTheHead) {
  const auto fresh = make("a", false);
  const auto saved = make("a");
  queue_.add(fresh);
  queue_.add(saved);

  EXPECT_EQ(heads(), std::vector{saved->row.id});
  fresh->saved.set();
  EXPECT_EQ(heads(), std::vector{fresh->row.id});
}

TEST_F(TaskQueueTest, WhenTimePasses_ThenExactlyThoseThatAreLateAreOverdue) {
  const auto first = make("a");
  const auto second = make("b");
  second->queue_deadline = first->queue_deadline - 1ns;
  EXPECT_EQ(queue_.next_deadline(), TimePoint::max());
  queue_.add(first);
  queue_.add(second);

  EXPECT_EQ(queue_.next_deadline(), second->queue_deadline);
  EXPECT_TRUE(queue_.overdue(second->queue_deadline - 1ns).empty());
  EXPECT_EQ(queue_.overdue(second->queue_deadline), std::vector{second});
  EXPECT_EQ(queue_.overdue(first->queue_deadline), (std::vector{second, first}));
}

TEST_F(TaskQueueTest, WhenATaskThatIsNotThereIsRemoved_ThenNothingHappens) {
  const auto task = make("a");
  queue_.add(task);

  queue_.remove(*make("a"));

  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_FALSE(queue_.is_empty());
}

}  // namespace
}  // namespace outhaul::hub
