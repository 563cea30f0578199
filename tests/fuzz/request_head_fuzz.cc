// Any bytes as the head of a request and of a response: what is accepted has one framing and a legal target.
#include "http/head_parser.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"

using namespace outhaul::http;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView bytes(reinterpret_cast<const char*>(data), size);
  const auto end = find_head_end(bytes, 16 * 1024);
  if (!end || *end == 0) return 0;
  const auto bytes_of_head = bytes.substr(0, *end);
  static_cast<void>(parse_response_head(bytes_of_head, Method::get));
  const auto head = parse_request_head(bytes_of_head);
  if (!head) return 0;
  const auto& headers = head->request.headers;
  OUTHAUL_ASSERT(head->request.path.starts_with('/'));
  OUTHAUL_ASSERT(headers.count("Content-Length") + headers.count("Transfer-Encoding") <= 1);
  OUTHAUL_ASSERT((head->framing.kind == BodyKind::chunked) == (headers.count("Transfer-Encoding") == 1));
  return 0;
}
