#include "wire/byte_queue.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "wire/frame.h"

namespace outhaul::wire {

void ByteQueue::push(SharedSlice chunk) {
  if (chunk.size() == 0) return;
  size_ += chunk.size();
  chunks_.push_back({Bytes(), std::move(chunk)});
}

void ByteQueue::append(ByteView bytes) {
  if (bytes.empty()) return;
  if (chunks_.empty() || chunks_.back().own.empty() ||
      chunks_.back().own.size() + bytes.size() > chunk_bytes) {
    chunks_.emplace_back();
    // A full frame is a bulk transfer: three more follow, and growing by doubling would copy them twice.
    if (bytes.size() == max_frame_payload_bytes) chunks_.back().own.reserve(chunk_bytes);
  }
  chunks_.back().own.append(bytes);
  size_ += bytes.size();
}

void ByteQueue::move_to(Bytes& out, std::size_t count) {
  OUTHAUL_ASSERT(count <= size_);
  size_ -= count;
  while (count > 0) {
    const ByteView front = chunks_.front().view();
    const auto piece = std::min(count, front.size() - front_offset_);
    out.append(front.substr(front_offset_, piece));
    count -= piece;
    front_offset_ += piece;
    if (front_offset_ == front.size()) {
      chunks_.pop_front();
      front_offset_ = 0;
    }
  }
}

Bytes ByteQueue::take_chunk() {
  OUTHAUL_ASSERT(!is_empty());
  Bytes chunk = std::move(chunks_.front().own);
  OUTHAUL_ASSERT(!chunk.empty());
  chunks_.pop_front();
  chunk.erase(0, std::exchange(front_offset_, 0));
  size_ -= chunk.size();
  return chunk;
}

void ByteQueue::clear() {
  chunks_.clear();
  front_offset_ = 0;
  size_ = 0;
}

}  // namespace outhaul::wire
