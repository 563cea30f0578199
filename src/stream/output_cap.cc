#include "stream/output_cap.h"

#include <algorithm>
#include <utility>

namespace outhaul::stream {

ByteView OutputCap::pass(ByteView produced) {
  const ByteView live = produced.substr(0, std::min<std::uint64_t>(first_left_, produced.size()));
  if (first_left_ != no_cap) first_left_ -= live.size();
  keep_last(produced.substr(live.size()));
  return live;
}

void OutputCap::keep_last(ByteView bytes) {
  held_back_ += bytes.size();
  if (bytes.size() > last_) bytes.remove_prefix(bytes.size() - last_);
  kept_.append(bytes);
  if (kept_.size() > 2 * last_) kept_.erase(0, kept_.size() - last_);
}

OutputCap::Rest OutputCap::finish() {
  if (kept_.size() > last_) kept_.erase(0, kept_.size() - last_);
  Rest rest{.missing = held_back_ - kept_.size(), .last = std::exchange(kept_, {})};
  held_back_ = 0;
  return rest;
}

}  // namespace outhaul::stream
