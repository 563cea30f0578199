// InputBuffer: what has been read from a connection and not yet been understood. Small while a connection
// idles, larger as long as the peer fills it.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"
#include "http/connection.h"

namespace outhaul::http {

class InputBuffer {
 public:
  static constexpr std::size_t least_room = 2 * 1024;
  static constexpr std::size_t most_room = 256 * 1024;

  explicit InputBuffer(Bytes already_read = {});

  ByteView view() const { return ByteView(storage_).substr(begin_, end_ - begin_); }
  bool is_empty() const { return begin_ == end_; }
  void consume(std::size_t count);
  // Appends what one read gives, 0 at the peer's end. Invalidates views. Fails with `too_large` when
  // most_room bytes wait already. Cancelling loses nothing.
  Task<Result<std::size_t>> fill(Connection& connection);
  // Gives the memory back when nothing waits.
  void shrink();
  Bytes take();

 private:
  void make_room();
  Bytes storage_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t room_ = least_room;
};

}  // namespace outhaul::http
