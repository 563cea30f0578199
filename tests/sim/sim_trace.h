// SimTrace: what happened in one seed, a line an event. The lines make the world's trace hash, so they name
// nothing that differs between two processes; the last ones are kept for the report of a failure.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "testing/sim_world.h"

namespace outhaul::sim {

class SimTrace {
 public:
  static constexpr std::size_t kept_lines = 50;

  // `is_verbose`: every line also goes to standard output.
  SimTrace(testing::SimWorld& world, bool is_verbose) : world_(world), is_verbose_(is_verbose) {}

  void say(std::string_view who, std::string_view what);
  std::vector<std::string> last_lines() const { return {lines_.begin(), lines_.end()}; }

 private:
  testing::SimWorld& world_;
  bool is_verbose_;
  std::deque<std::string> lines_;
};

// The log of one process, as lines of the trace.
class TraceSink final : public LogSink {
 public:
  TraceSink(SimTrace& trace, std::string who) : trace_(trace), who_(std::move(who)) {}
  void write(std::string_view line) override { trace_.say(who_, line); }

 private:
  SimTrace& trace_;
  std::string who_;
};

}  // namespace outhaul::sim
