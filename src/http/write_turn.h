// WriteTurn: lets the coroutines of one strand write to one connection in turn.
#pragma once

#include "base/event.h"

namespace outhaul::http {

class WriteTurn {
 public:
  explicit WriteTurn(const Executor& executor) : freed_(executor) {}

  // Held while one message is written; gives the turn on when destroyed.
  class Held {
   public:
    explicit Held(WriteTurn& turn) : turn_(&turn) {}
    Held(Held&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Held& operator=(Held&&) = delete;
    ~Held() {
      if (turn_ != nullptr) turn_->release();
    }

   private:
    WriteTurn* turn_;
  };

  bool is_taken() const { return is_taken_; }
  Task<Held> take() {
    while (is_taken_) co_await freed_.wait_pulse();
    is_taken_ = true;
    co_return Held(*this);
  }

 private:
  void release() {
    is_taken_ = false;
    freed_.pulse();
  }
  bool is_taken_ = false;
  Event freed_;
};

}  // namespace outhaul::http
