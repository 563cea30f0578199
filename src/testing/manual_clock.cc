#include "testing/manual_clock.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace outhaul::testing {

// One alarm that is set; leaves the list when it rings or is dropped.
class ManualClock::Sleeper final : public AsyncClock::Alarm {
 public:
  Sleeper(Sleepers& list, const Executor& strand, std::function<void()> ring)
      : strand_(strand), ring_(std::make_shared<std::function<void()>>(std::move(ring))), sleepers_(list) {}
  ~Sleeper() override {
    if (place_) sleepers_.erase(*place_);
  }
  void wait_until(TimePoint when) { place_ = sleepers_.emplace(when, this); }
  void ring() {
    if (place_) sleepers_.erase(*std::exchange(place_, std::nullopt));
    asio::post(strand_, [alive = std::weak_ptr(ring_)] {
      if (const auto ringing = alive.lock()) (*ringing)();
    });
  }

 private:
  Executor strand_;
  std::shared_ptr<std::function<void()>> ring_;
  Sleepers& sleepers_;
  std::optional<Sleepers::iterator> place_;  // empty once it has rung
};

std::unique_ptr<AsyncClock::Alarm> ManualClock::alarm_at(TimePoint when, const Executor& strand,
                                                         std::function<void()> ring) {
  auto alarm = std::make_unique<Sleeper>(sleepers_, strand, std::move(ring));
  if (when <= now_) {
    alarm->ring();
  } else {
    alarm->wait_until(when);
  }
  return alarm;
}

void ManualClock::advance(Duration span) {
  now_ += span;
  wall_now_ = wall_now_ + span;
  while (!sleepers_.empty() && sleepers_.begin()->first <= now_) sleepers_.begin()->second->ring();
}

std::optional<TimePoint> ManualClock::next_wake() const {
  if (sleepers_.empty()) return std::nullopt;
  return sleepers_.begin()->first;
}

std::size_t run_ready(asio::io_context& io) {
  std::size_t count = 0;
  io.restart();
  while (const auto ran = io.poll()) count += ran;
  return count;
}

}  // namespace outhaul::testing
