#include "stream/tail.h"

#include <algorithm>

namespace outhaul::stream {

void Tail::push(EncodedRecord record) {
  encoded_bytes_ += record.bytes().size();
  records_.push_back(std::move(record));
}

void Tail::pop() {
  encoded_bytes_ -= records_.front().bytes().size();
  records_.pop_front();
}

void Tail::shrink_to(std::size_t max_memory_bytes) {
  while (memory_bytes() > max_memory_bytes) pop();
}

std::size_t Tail::drop(std::uint64_t up_to) {
  const std::size_t before = encoded_bytes_;
  // The completing record stays: an offset does not say that it has been read.
  const auto may_go = [&](const EncodedRecord& record) {
    return record.end_offset() <= up_to && !completes_stream(record.header().kind);
  };
  while (!records_.empty() && may_go(records_.front())) pop();
  return before - encoded_bytes_;
}

void Tail::clear() { *this = Tail(); }

ReadChunk Tail::read(std::uint64_t from, std::size_t max_bytes, bool with_completing) const {
  ReadChunk chunk;
  chunk.next = {from, false};
  // The first record that ends after `from`: the one before it may end exactly there.
  auto at = std::ranges::partition_point(records_, [&](const EncodedRecord& record) {
    return record.end_offset() <= from && !completes_stream(record.header().kind);
  });
  for (; at != records_.end(); ++at) {
    const bool completes = completes_stream(at->header().kind);
    if (completes && !with_completing) break;
    if (at->end_offset() <= from && at->span() > 0) break;  // the completing one, and all of it is known
    if (chunk.bytes > 0 && chunk.bytes + at->bytes().size() > max_bytes) break;
    chunk.add(at->tail_from(std::max(from, at->header().offset)));
  }
  return chunk;
}

}  // namespace outhaul::stream
