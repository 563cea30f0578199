// parse_record and RecordDecoder over any bytes: no crash, and both agree, however the bytes are cut.
#include <cstdlib>

#include "stream/record_decoder.h"

namespace {

using namespace outhaul;

std::size_t count_records(ByteView bytes, std::size_t chunk) {
  stream::RecordDecoder decoder;
  std::size_t count = 0;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) {
    decoder.feed(bytes.substr(0, chunk));
    for (;;) {
      const auto next = decoder.next();
      if (!next) return count;
      if (!*next) break;
      if (!stream::parse_record((*next)->bytes().view())) std::abort();
      ++count;
    }
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView bytes(reinterpret_cast<const char*>(data), size);
  // Random bytes never have the right checksum: seal what looks like one record, so that its rules are
  // reached.
  Bytes sealed(bytes);
  if (const auto header = stream::parse_record_header(sealed);
      header && sealed.size() >= stream::record_header_bytes + header->length) {
    stream::seal_record(*header, sealed.data());
    const auto record = stream::parse_record(sealed);
    if (record && record->end_offset() < record->header.offset) std::abort();
  }
  const std::size_t chunk = 1 + data[0] % 64;
  if (count_records(sealed, chunk) != count_records(sealed, sealed.size())) std::abort();
  return 0;
}
