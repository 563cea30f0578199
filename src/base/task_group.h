// TaskGroup: the only place where a coroutine is started. Every child runs on the group's executor and
// ends before its group does. The first child that throws cancels its siblings; join() rethrows it.
// Runs on one strand: all calls come from the executor it was made with.
#pragma once

#include <exception>
#include <functional>
#include <list>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/task.h"

namespace outhaul {

class TaskGroup {
 public:
  explicit TaskGroup(Executor executor);
  // Aborts when a child still lives: its owner forgot join().
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts `body`, a callable that gives Task<void>; the closure lives as long as the coroutine.
  template <class Body>
  void spawn(Body body) {
    const auto child = children_.emplace(children_.end());
    asio::co_spawn(executor_, std::move(body),
                   asio::bind_cancellation_slot(child->slot(), Ended(*this, child)));
  }
  // Asks every child to unwind. Children spawned later are not affected.
  void cancel();
  // Completes when the last child has unwound; rethrows the first failure that was no cancellation.
  Task<void> join();
  bool is_idle() const { return children_.empty(); }
  std::size_t size() const { return children_.size(); }
  const Executor& executor() const { return executor_; }

 private:
  using Children = std::list<asio::cancellation_signal>;
  // Removes its child when the coroutine ends, and also when its frame is destroyed with the io_context
  // (a simulated crash), so that the group is idle either way.
  class Ended {
   public:
    Ended(TaskGroup& group, Children::iterator child) : group_(&group), child_(child) {}
    Ended(Ended&& other) noexcept : group_(std::exchange(other.group_, nullptr)), child_(other.child_) {}
    Ended& operator=(Ended&&) = delete;
    ~Ended() {
      if (group_ != nullptr) group_->forget(child_);
    }
    void operator()(std::exception_ptr failure) {
      std::exchange(group_, nullptr)->end(child_, std::move(failure));
    }

   private:
    TaskGroup* group_;
    Children::iterator child_;
  };

  void end(Children::iterator child, std::exception_ptr failure);
  void forget(Children::iterator child);

  Executor executor_;
  asio::steady_timer idle_;
  Children children_;
  std::exception_ptr first_failure_;
};

// True for the exception that cancellation throws through a coroutine.
bool is_cancellation(const std::exception_ptr& failure);

}  // namespace outhaul
