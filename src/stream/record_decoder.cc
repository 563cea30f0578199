#include "stream/record_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace outhaul::stream {

void RecordDecoder::feed(ByteView chunk) {
  OUTHAUL_ASSERT(chunk_.empty());
  chunk_ = chunk;
}

// Gives true once the header is known and the record's memory is there.
Result<bool> RecordDecoder::gather_header() {
  const std::size_t count = std::min(record_header_bytes - have_, chunk_.size());
  std::memcpy(head_.data() + have_, chunk_.data(), count);
  chunk_.remove_prefix(count);
  have_ += count;
  if (have_ < record_header_bytes) return false;
  // Checked before the payload is awaited: a length is never believed on its own.
  OUTHAUL_TRY(header, parse_record_header(ByteView(head_.data(), head_.size())));
  header_ = header;
  record_ = std::make_shared_for_overwrite<char[]>(record_header_bytes + header_.length);
  std::memcpy(record_.get(), head_.data(), head_.size());
  return true;
}

Result<std::optional<EncodedRecord>> RecordDecoder::next() {
  if (failed_) return fail(ErrorCode::protocol_violation, "record: the byte stream failed before");
  if (record_ == nullptr) {
    if (chunk_.empty()) return std::nullopt;
    auto known = gather_header();
    failed_ = !known.has_value();
    if (!known) return fail(std::move(known).error());
    if (!*known) return std::nullopt;
  }
  const std::size_t whole = record_header_bytes + header_.length;
  const std::size_t count = std::min(whole - have_, chunk_.size());
  std::memcpy(record_.get() + have_, chunk_.data(), count);
  chunk_.remove_prefix(count);
  have_ += count;
  if (have_ < whole) return std::nullopt;
  return finish(whole);
}

Result<std::optional<EncodedRecord>> RecordDecoder::finish(std::size_t whole) {
  const ByteView view(record_.get(), whole);
  SharedSlice bytes(std::exchange(record_, nullptr), view);
  have_ = 0;
  auto record = parse_record(view);
  failed_ = !record.has_value();
  if (!record) return fail(std::move(record).error());
  return EncodedRecord::assume(record->header, std::move(bytes));
}

}  // namespace outhaul::stream
