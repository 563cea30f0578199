#include "http/input_buffer.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace outhaul::http {

InputBuffer::InputBuffer(Bytes already_read) : storage_(std::move(already_read)), end_(storage_.size()) {}

void InputBuffer::consume(std::size_t count) {
  OUTHAUL_ASSERT(count <= end_ - begin_);
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

void InputBuffer::make_room() {
  if (begin_ > 0) {
    std::memmove(storage_.data(), storage_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto wanted = std::min(most_room, std::max(end_ + least_room, room_));
  if (storage_.size() < wanted) storage_.resize(wanted);
}

Task<Result<std::size_t>> InputBuffer::fill(Connection& connection) {
  make_room();
  if (end_ == storage_.size()) co_return fail(ErrorCode::too_large, "http: more input than can be kept");
  const auto room = std::span(storage_).subspan(end_);
  OUTHAUL_CO_TRY(count, co_await connection.read_some(room));
  end_ += count;
  // A peer that filled the room has more: read it in larger pieces.
  if (count == room.size()) room_ = std::min(most_room, room_ * 4);
  co_return count;
}

void InputBuffer::shrink() {
  if (!is_empty() || storage_.size() <= least_room) return;
  storage_ = Bytes();
  room_ = least_room;
}

Bytes InputBuffer::take() {
  Bytes waiting(view());
  consume(waiting.size());
  return waiting;
}

}  // namespace outhaul::http
