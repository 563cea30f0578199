// OutputPace: when a program's output gives way to others on the strand, and for how long it then waits for
// the tunnel, so that what is sent next is still in memory. Pure.
//
// Waiting is earned by output: a tunnel that carries slow_tunnel_bytes a second or more is always waited for,
// a slower or dead one for most_patience, and then hardly any more.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace outhaul::node {

class OutputPace {
 public:
  static constexpr std::size_t turn_bytes = 256U << 10U;
  static constexpr std::uint64_t slow_tunnel_bytes = 20U << 20U;  // a second
  static constexpr Duration most_patience = std::chrono::milliseconds(100);
  static constexpr Duration least_patience = std::chrono::milliseconds(20);
  // What goes to the disk unhindered before a tunnel that was not worth waiting for is tried again.
  static constexpr std::uint64_t unpaced_bytes = 16U << 20U;

  // So much output was written: true when it is a turn since the last time. A ring that is emptied each time
  // holds less than a turn, so they add up.
  bool ends_turn(std::size_t bytes);
  // How long to wait at most, now that so many bytes of output were written; zero: not at all.
  Duration patience(std::uint64_t written_bytes);
  // A wait for that patience lasted so long.
  void note_wait(std::uint64_t written_bytes, Duration lasted);

 private:
  std::size_t in_turn_ = 0;
  Duration left_ = most_patience;
  std::uint64_t counted_ = 0;  // bytes that have earned theirs; ahead of the output while that is unpaced
};

}  // namespace outhaul::node
