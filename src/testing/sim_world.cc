#include "testing/sim_world.h"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "base/assert.h"

namespace outhaul::testing {

// 2026-01-01 at simulated time zero: any fixed moment serves.
WallTime SimWorld::wall_now() const {
  constexpr std::int64_t wall_start = 1'767'225'600'000'000'000;
  return WallTime{wall_start} + now_.time_since_epoch();
}

void SimWorld::at(TimePoint when, std::function<void()> action) {
  events_.emplace(Key(std::max(when, now_), posted_++), std::move(action));
}

void SimWorld::at(TimePoint when, std::weak_ptr<SimProcess> process, std::function<void()> action) {
  at(when, [process = std::move(process), action = std::move(action)] {
    const auto alive = process.lock();
    if (!alive || alive->is_dead()) return;
    action();
    alive->drain();
  });
}

bool SimWorld::step() {
  if (events_.empty()) return false;
  auto next = events_.extract(events_.begin());
  now_ = next.key().first;
  ++steps_;
  next.mapped()();
  return true;
}

void SimWorld::run_until(TimePoint when) {
  while (!events_.empty() && events_.begin()->first.first <= when) step();
  now_ = std::max(now_, when);
}

void SimWorld::trace(std::string_view what) {
  constexpr std::uint64_t prime = 0x100000001b3U;
  const auto mix = [this](unsigned char byte) { trace_hash_ = (trace_hash_ ^ byte) * prime; };
  for (auto at = static_cast<std::uint64_t>(now_.time_since_epoch().count()); at != 0; at >>= 8U) {
    mix(static_cast<unsigned char>(at & 0xffU));
  }
  for (const char c : what) mix(static_cast<unsigned char>(c));
  mix('\n');
}

std::unique_ptr<AsyncClock::Alarm> SimClock::alarm_at(TimePoint when, const Executor& strand,
                                                      std::function<void()> ring) {
  // The event may outlive the alarm (dropped, or destroyed in a crash): it finds it through `alive`.
  struct SimAlarm final : Alarm {
    explicit SimAlarm(std::function<void()> action)
        : ring(std::make_shared<std::function<void()>>(std::move(action))) {}
    std::shared_ptr<std::function<void()>> ring;
  };
  auto alarm = std::make_unique<SimAlarm>(std::move(ring));
  const auto call = [alive = std::weak_ptr(alarm->ring)] {
    if (const auto ringing = alive.lock()) (*ringing)();
  };
  world_.at(when, process_, [strand, call] { asio::post(strand, call); });
  return alarm;
}

std::shared_ptr<SimProcess> SimProcess::make(SimWorld& world, std::string name,
                                             std::chrono::nanoseconds skew) {
  std::shared_ptr<SimProcess> process(new SimProcess(world, std::move(name), skew));
  process->clock_.bind(process);
  return process;
}

SimProcess::SimProcess(SimWorld& world, std::string name, std::chrono::nanoseconds skew)
    : world_(world), name_(std::move(name)), clock_(world, skew) {}

void SimProcess::drain() {
  OUTHAUL_ASSERT(!is_dead_);
  ++drains_;
  io_.restart();
  while (io_.poll() > 0) io_.restart();
}

void SimProcess::destroy_frames() {
  is_dead_ = true;
  io_.destroy_operations();
}

}  // namespace outhaul::testing
