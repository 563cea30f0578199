// Any bytes as a chunked body: whole and byte by byte give the same payload and the same end.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "http/chunked_decoder.h"

using namespace outhaul;

namespace {

struct Outcome {
  Bytes payload;
  std::size_t consumed = 0;
  bool is_refused = false;
  bool is_done = false;
  bool operator==(const Outcome&) const = default;
};

Outcome decode(ByteView input, std::size_t piece_size) {
  http::ChunkedDecoder decoder;
  Outcome outcome;
  while (outcome.consumed < input.size() && !decoder.is_done()) {
    const auto step = decoder.step(input.substr(outcome.consumed, piece_size));
    if (!step) {
      outcome.is_refused = true;
      outcome.consumed = 0;  // how far it got depends on the pieces
      return outcome;
    }
    outcome.payload.append(step->data);
    outcome.consumed += step->consumed;
  }
  outcome.is_done = decoder.is_done();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(reinterpret_cast<const char*>(data), size);
  OUTHAUL_ASSERT(decode(input, size + 1) == decode(input, 1));
  return 0;
}
