// SimWorld: simulated time for any number of simulated processes in one thread. Everything that happens
// is an event in one queue ordered by (time, order of posting), so that a seed decides the whole run.
//
// A SimProcess is one operating-system process of the simulation: its own io_context and clocks. A crash
// runs in two steps, as for a real one: its ports die first (their owners do that), then
// destroy_frames() destroys every coroutine where it stands.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/async_clock.h"
#include "testing/mortal_context.h"

namespace outhaul::testing {

class SimProcess;

class SimWorld {
 public:
  // Not zero: a time before the start can be named.
  static constexpr TimePoint start{std::chrono::hours(1)};

  SimWorld() = default;
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  TimePoint now() const { return now_; }
  // Wall time without any process's skew.
  WallTime wall_now() const;
  // `action` runs at `when` (never before now) in no process's context.
  void at(TimePoint when, std::function<void()> action);
  // The same, and then `process` runs until it waits again. Dropped when the process is gone by then.
  void at(TimePoint when, std::weak_ptr<SimProcess> process, std::function<void()> action);
  // Handles the next event; false when none is left.
  bool step();
  void run_until(TimePoint when);
  // Events handled so far.
  std::uint64_t steps() const { return steps_; }

  // A running hash of what was traced; equal seeds give equal hashes in any two processes.
  void trace(std::string_view what);
  std::uint64_t trace_hash() const { return trace_hash_; }

 private:
  using Key = std::pair<TimePoint, std::uint64_t>;
  TimePoint now_ = start;
  std::uint64_t posted_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t trace_hash_ = 0xcbf29ce484222325U;  // FNV-1a's offset basis
  std::map<Key, std::function<void()>> events_;
};

// The clocks of one process: monotonic as the world's, wall time off by a skew that may be stepped.
class SimClock final : public AsyncClock {
 public:
  SimClock(SimWorld& world, std::chrono::nanoseconds skew) : world_(world), skew_(skew) {}
  TimePoint now() const override { return world_.now(); }
  WallTime wall_now() const override { return world_.wall_now() + skew_; }
  std::unique_ptr<Alarm> alarm_at(TimePoint when, const Executor& strand,
                                  std::function<void()> ring) override;
  void set_skew(std::chrono::nanoseconds skew) { skew_ = skew; }
  // Whose coroutines sleep on this clock.
  void bind(std::weak_ptr<SimProcess> process) { process_ = std::move(process); }

 private:
  SimWorld& world_;
  std::chrono::nanoseconds skew_;
  std::weak_ptr<SimProcess> process_;
};

class SimProcess : public std::enable_shared_from_this<SimProcess> {
 public:
  // shared_ptr: the world's events hold it weakly, and only they and its owner see it.
  static std::shared_ptr<SimProcess> make(SimWorld& world, std::string name, std::chrono::nanoseconds skew);

  const std::string& name() const { return name_; }
  SimWorld& world() { return world_; }
  SimClock& clock() { return clock_; }
  Executor executor() { return io_.get_executor(); }
  // Runs what is ready until every coroutine waits for an event.
  void drain();
  // The second half of a crash: every coroutine and queued handler is destroyed, nothing runs any more.
  void destroy_frames();
  bool is_dead() const { return is_dead_; }
  // How often it was drained: unchanged means that nothing ran in it.
  std::uint64_t drains() const { return drains_; }

 private:
  SimProcess(SimWorld& world, std::string name, std::chrono::nanoseconds skew);

  SimWorld& world_;
  std::string name_;
  SimClock clock_;
  MortalContext io_;
  bool is_dead_ = false;
  std::uint64_t drains_ = 0;
};

}  // namespace outhaul::testing
