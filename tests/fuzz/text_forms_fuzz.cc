// Any text as a duration and as base64: refused, or a value whose text gives it back.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/duration_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto span = outhaul::parse_duration(input)) {
    OUTHAUL_ASSERT(span->count() >= 0 && *span <= outhaul::max_duration_text);
    OUTHAUL_ASSERT(*outhaul::parse_duration(outhaul::duration_text(*span)) == *span);
  }
  if (const auto bytes = outhaul::parse_base64(input)) OUTHAUL_ASSERT(outhaul::to_base64(*bytes) == input);
  return 0;
}
