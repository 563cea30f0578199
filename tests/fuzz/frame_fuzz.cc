// Any bytes as one message of a carrier: what is read re-encodes to the same bytes.
#include "wire/frame.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"

using namespace outhaul::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView message(reinterpret_cast<const char*>(data), size);
  FrameReader reader(message);
  outhaul::Bytes again;
  for (;;) {
    const auto frame = reader.next();
    if (!frame || !*frame) break;
    append_frame(again, **frame);
    if ((*frame)->kind == FrameKind::credit) OUTHAUL_ASSERT(credit_of(**frame) > 0);
    if ((*frame)->kind == FrameKind::reset) OUTHAUL_ASSERT(!reset_code_of(**frame).empty());
  }
  OUTHAUL_ASSERT(message.starts_with(again));
  return 0;
}
