// parse_journal and parse_stream_journal over any bytes, alone and as the changed rest of a real file.
#include <cstdlib>

#include "stream/journal_frame.h"
#include "stream/stream_journal.h"

namespace {

using namespace outhaul;

void parse_all(ByteView file) {
  const auto contents = stream::parse_journal(file, 1);
  if (!contents) return;
  if (contents->whole_bytes > file.size()) std::abort();
  for (const auto& frame : contents->frames) (void)stream::parse_stream_journal(frame.type, frame.payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes(reinterpret_cast<const char*>(data), size);
  parse_all(bytes);
  Bytes file = stream::journal_header(1);
  file += bytes;
  parse_all(file);
  if (size == 0) return 0;
  // The input as the payload of a whole frame.
  const stream::FramePlace place{.generation = 1, .offset = stream::journal_header_bytes, .synced = 0};
  const ByteView payload = bytes.substr(1);
  Bytes framed = stream::journal_header(1);
  framed += stream::make_frame_header(place, data[0], {&payload, 1}).view();
  framed += payload;
  parse_all(framed);
  parse_all(framed + file);
  return 0;
}
