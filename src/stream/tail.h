// Tail: the last records of a stream, in memory, shared with their readers. Contiguous. Pure.
#pragma once

#include <deque>

#include "stream/record.h"
#include "stream/segment.h"

namespace outhaul::stream {

class Tail {
 public:
  // What one record costs beside its bytes: the queue's entry and the allocation's own.
  static constexpr std::size_t record_overhead_bytes = 128;

  bool is_empty() const { return records_.empty(); }
  // Offset of the first record; only when not empty.
  std::uint64_t start() const { return records_.front().header().offset; }
  // Whether read(from) can be answered from here.
  bool covers(std::uint64_t from) const { return !records_.empty() && start() <= from; }
  std::size_t memory_bytes() const { return encoded_bytes_ + records_.size() * record_overhead_bytes; }
  std::size_t encoded_bytes() const { return encoded_bytes_; }
  const std::deque<EncodedRecord>& records() const { return records_; }

  void push(EncodedRecord record);
  // Lets the oldest go until at most this much memory is used.
  void shrink_to(std::size_t max_memory_bytes);
  // Lets whole records go that end at or before `up_to`, never the completing one; gives their encoded size.
  std::size_t drop(std::uint64_t up_to);
  void clear();

  // Whole records from `from`, which covers() holds for. The first comes also when larger than `max_bytes`;
  // the completing one only when asked for.
  ReadChunk read(std::uint64_t from, std::size_t max_bytes, bool with_completing) const;

 private:
  void pop();

  std::deque<EncodedRecord> records_;
  std::size_t encoded_bytes_ = 0;
};

}  // namespace outhaul::stream
