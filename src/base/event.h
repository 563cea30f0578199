// Event: wakes coroutines of one strand. A level, not an edge: wait() returns at once while it is set.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include "base/task.h"

namespace outhaul {

class Event {
 public:
  explicit Event(const Executor& executor);
  void set();
  void reset() { is_set_ = false; }
  bool is_set() const { return is_set_; }
  // Completes when set. Cancellation throws operation_aborted. Give it a deadline with within().
  Task<void> wait();
  // Wakes everyone who waits now and leaves the event unset: for "something changed, look again".
  void pulse();
  Task<void> wait_pulse();

 private:
  bool is_set_ = false;
  asio::steady_timer timer_;
};

}  // namespace outhaul
