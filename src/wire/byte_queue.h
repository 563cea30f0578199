// ByteQueue: bytes in order, held in chunks, owned or lent, so that neither end copies more than it must.
#pragma once

#include "base/shared_slice.h"
#include "wire/queue.h"

namespace outhaul::wire {

class ByteQueue {
 public:
  // append() fills chunks up to this size; what take_chunk() gives is at most that, or one push().
  static constexpr std::size_t chunk_bytes = 64 * 1024;

  // Takes the chunk as it is. Empty ones are dropped.
  void push(Bytes chunk) { push(SharedSlice::take(std::move(chunk))); }
  void push(SharedSlice chunk);
  // Copies, joining small pieces into one chunk.
  void append(ByteView bytes);
  // Copies the first `count` bytes to the end of `out` and drops them; count <= size().
  void move_to(Bytes& out, std::size_t count);
  // The first chunk, which came by append(); the queue is not empty.
  Bytes take_chunk();
  void clear();

  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }

 private:
  // Either gathered here or lent by whoever pushed it.
  struct Chunk {
    Bytes own;
    SharedSlice lent;
    ByteView view() const { return own.empty() ? lent.view() : ByteView(own); }
  };

  Queue<Chunk> chunks_;
  std::size_t front_offset_ = 0;  // bytes of the first chunk that are gone
  std::size_t size_ = 0;
};

}  // namespace outhaul::wire
