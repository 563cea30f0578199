// Any text as a query, a path segment, a hub's URL, a listening address and a Last-Event-ID.
#include "http/uri.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "http/sse.h"

using namespace outhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(http::parse_query(text));
  if (const auto decoded = http::parse_percent_encoded(text)) {
    const auto again = http::parse_percent_encoded(http::percent_encode(*decoded));
    OUTHAUL_ASSERT(again && *again == *decoded);
  }
  if (const auto url = http::parse_url(text)) {
    const auto again = http::parse_url(url->text());
    OUTHAUL_ASSERT(again && again->authority() == url->authority());
  }
  if (const auto address = http::parse_listen_address(text)) {
    const auto again = http::parse_listen_address(address->text());
    OUTHAUL_ASSERT(again && *again == *address);
  }
  const bool has_control =
      std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  if (has_control) return 0;  // no header value
  static_cast<void>(http::parse_last_event_id({{"Last-Event-ID", std::string(text)}}));
  return 0;
}
