#include "tests/sim/sim_trace.h"

#include <fmt/format.h>

#include <cstdio>

namespace outhaul::sim {

void SimTrace::say(std::string_view who, std::string_view what) {
  world_.trace(who);
  world_.trace(what);
  const auto now = std::chrono::duration<double>(world_.now() - testing::SimWorld::start);
  lines_.push_back(fmt::format("{:11.6f} {:7} {}", now.count(), who, what));
  if (is_verbose_) std::puts(lines_.back().c_str());
  if (lines_.size() > kept_lines) lines_.pop_front();
}

}  // namespace outhaul::sim
