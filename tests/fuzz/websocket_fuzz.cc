// Any bytes as WebSocket frames, in either role: the size of the reads decides nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "http/websocket_codec.h"

using namespace outhaul;

namespace {

constexpr std::size_t max_message_bytes = 4096;

// One line an event, and how it ended.
Bytes decode(http::WebSocketRole role, ByteView input, std::size_t piece_size) {
  http::WebSocketDecoder decoder(role, max_message_bytes);
  Bytes trace;
  while (!input.empty()) {
    const auto room = decoder.prepare();
    OUTHAUL_ASSERT(!room.empty() && room.size() <= max_message_bytes);
    const auto count = std::min({room.size(), input.size(), piece_size});
    std::memcpy(room.data(), input.data(), count);
    input.remove_prefix(count);
    const auto event = decoder.commit(count);
    if (!event) return trace + event.error().what();
    if (!*event) continue;
    OUTHAUL_ASSERT((*event)->payload.size() <= max_message_bytes);
    trace += std::to_string(int((*event)->kind)) + ":" + (*event)->payload + "\n";
  }
  return trace;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(reinterpret_cast<const char*>(data), size);
  for (const auto role : {http::WebSocketRole::client, http::WebSocketRole::server}) {
    OUTHAUL_ASSERT(decode(role, input, 1) == decode(role, input, size + 1));
  }
  return 0;
}
