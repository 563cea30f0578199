// RecordDecoder: whole records out of chunks that were cut anywhere. Each record's bytes are gathered
// into one allocation that the stream store then shares; nothing is copied twice.
// Pure; holds at most one unfinished record (max_record_bytes) beside the chunk it was fed.
#pragma once

#include <optional>

#include "stream/record.h"

namespace outhaul::stream {

class RecordDecoder {
 public:
  // Takes the next chunk of the byte stream. `chunk` must stay alive until next() gave empty; feeding
  // earlier is a broken promise (OUTHAUL_ASSERT).
  void feed(ByteView chunk);
  // The next whole record; empty: feed more. Fails with `protocol_violation` for anything else; a
  // decoder that failed stays failed.
  Result<std::optional<EncodedRecord>> next();
  // Some of the chunk was not looked at yet.
  bool has_input() const { return !chunk_.empty(); }
  // True when no unfinished record is held: the byte stream may end here.
  bool is_at_boundary() const { return have_ == 0 && chunk_.empty(); }

 private:
  Result<bool> gather_header();
  Result<std::optional<EncodedRecord>> finish(std::size_t whole);

  ByteView chunk_;
  std::array<char, record_header_bytes> head_{};
  std::shared_ptr<char[]> record_;  // set once the header is known
  RecordHeader header_;
  std::size_t have_ = 0;  // bytes of the current record gathered so far
  bool failed_ = false;
};

}  // namespace outhaul::stream
