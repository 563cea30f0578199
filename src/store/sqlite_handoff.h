// How a unit of work crosses from a strand to a database thread and back. The one place in this folder
// with a mutex: everything else belongs to one thread at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/post.hpp>

#include "base/event.h"
#include "store/database.h"

namespace outhaul::store {

// Shared by the waiting coroutine and the thread that runs the work; the last owner is always a handler
// of the coroutine's own executor, so that nothing of the strand is destroyed on the thread.
template <class Tx>
struct Pending {
  Pending(const Executor& caller, std::shared_ptr<Work<Tx>> to_do)
      : executor(caller), work(std::move(to_do)), done(caller) {}
  Executor executor;
  std::shared_ptr<Work<Tx>> work;
  Result<void> outcome;
  Event done;
};
template <class Tx>
using Group = std::vector<std::shared_ptr<Pending<Tx>>>;

// Wakes every caller of the group, and leaves the group empty.
template <class Tx>
void deliver(Group<Tx>& group) {
  for (auto& pending : group) {
    const Executor executor = pending->executor;
    asio::post(executor, [pending = std::move(pending)] { pending->done.set(); });
  }
  group.clear();
}

template <class Tx>
class HandoffQueue {
 public:
  HandoffQueue(std::size_t max_waiting, std::chrono::milliseconds soon_limit)
      : max_waiting_(max_waiting), soon_limit_(soon_limit) {}

  // False: max_waiting are waiting already.
  bool put(std::shared_ptr<Pending<Tx>> pending, Urgency urgency) {
    bool is_news = urgency == Urgency::now;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() >= max_waiting_) return false;
      is_news = is_news || waiting_.empty();
      is_urgent_ = is_urgent_ || urgency == Urgency::now;
      waiting_.push_back(std::move(pending));
    }
    if (is_news) arrived_.notify_one();
    return true;
  }

  // Blocks until there is something that somebody waits for, or that has waited long enough; takes the
  // oldest, at most `max_taken`. Empty: closed and drained.
  Group<Tx> take(std::size_t max_taken) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    arrived_.wait_for(lock, soon_limit_, [this] { return is_closed_ || is_urgent_; });
    if (waiting_.size() <= max_taken) {
      is_urgent_ = false;
      return std::exchange(waiting_, {});
    }
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(max_taken);
    Group<Tx> taken(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    return taken;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    arrived_.notify_one();
  }

 private:
  const std::size_t max_waiting_;
  const std::chrono::milliseconds soon_limit_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  Group<Tx> waiting_;
  bool is_urgent_ = false;  // somebody waits for one of them
  bool is_closed_ = false;
};

}  // namespace outhaul::store
