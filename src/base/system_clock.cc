#include "base/system_clock.h"

#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace outhaul {
namespace {

class TimerAlarm final : public AsyncClock::Alarm {
 public:
  TimerAlarm(TimePoint when, const Executor& strand, std::function<void()> ring)
      : ring_(std::make_shared<std::function<void()>>(std::move(ring))), timer_(strand, when) {
    // A timer that has expired cannot be cancelled any more: its handler looks whether the alarm still lives.
    timer_.async_wait([alive = std::weak_ptr(ring_)](const boost::system::error_code& error) {
      const auto ringing = alive.lock();
      if (!error && ringing) (*ringing)();
    });
  }

 private:
  std::shared_ptr<std::function<void()>> ring_;
  asio::steady_timer timer_;
};

}  // namespace

WallTime SystemClock::wall_now() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

std::unique_ptr<AsyncClock::Alarm> SystemClock::alarm_at(TimePoint when, const Executor& strand,
                                                         std::function<void()> ring) {
  return std::make_unique<TimerAlarm>(when, strand, std::move(ring));
}

}  // namespace outhaul
