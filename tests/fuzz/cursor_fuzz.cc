// parse_cursor takes what a client sends: one cursor for one text, and nothing else gets in.
#include <cstdint>
#include <cstdlib>

#include "store/cursor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto text = outhaul::store::parse_cursor(input);
  if (text && outhaul::store::make_cursor(*text) != input) std::abort();
  return 0;
}
