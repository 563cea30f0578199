#include "node/tasks/output_pace.h"

#include <algorithm>

namespace outhaul::node {
namespace {

Duration earned_by(std::uint64_t bytes) {
  // More than this earns no more, and the product below stays in its range.
  const auto counted = std::min(bytes, OutputPace::slow_tunnel_bytes);
  return std::chrono::nanoseconds(counted * std::uint64_t{std::nano::den} / OutputPace::slow_tunnel_bytes);
}

}  // namespace

bool OutputPace::ends_turn(std::size_t bytes) {
  in_turn_ += bytes;
  if (in_turn_ < turn_bytes) return false;
  in_turn_ = 0;
  return true;
}

Duration OutputPace::patience(std::uint64_t written_bytes) {
  if (written_bytes < counted_) return Duration::zero();
  left_ = std::min(most_patience, left_ + earned_by(written_bytes - counted_));
  counted_ = written_bytes;
  return left_;
}

void OutputPace::note_wait(std::uint64_t written_bytes, Duration lasted) {
  left_ -= lasted;
  if (left_ > Duration::zero()) return;
  left_ = least_patience;
  counted_ = written_bytes + unpaced_bytes;
}

}  // namespace outhaul::node
