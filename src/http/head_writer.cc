#include "http/head_writer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/assert.h"

namespace outhaul::http {
namespace {

void append_field(Bytes& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

void append_headers(Bytes& head, const Headers& headers, BodyFraming framing) {
  for (const auto& field : headers) append_field(head, field.name, field.value);
  if (framing.kind == BodyKind::length) append_field(head, "Content-Length", std::to_string(framing.length));
  if (framing.kind == BodyKind::chunked) append_field(head, "Transfer-Encoding", "chunked");
  head.append("\r\n");
}

}  // namespace

Bytes write_request_head(Method method, std::string_view target, std::string_view host,
                         const Headers& headers, BodyFraming framing) {
  OUTHAUL_ASSERT(target.starts_with('/') &&
                 std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f; }));
  Bytes head(name_of(method));
  head.append(" ").append(target).append(" HTTP/1.1\r\n");
  append_field(head, "Host", host);
  append_headers(head, headers, framing);
  return head;
}

Bytes write_response_head(int status, const Headers& headers, BodyFraming framing, bool keep_alive) {
  Bytes head = "HTTP/1.1 " + std::to_string(status) + " ";
  head.append(reason_of(status)).append("\r\n");
  if (!keep_alive) append_field(head, "Connection", "close");
  append_headers(head, headers, framing);
  return head;
}

Bytes chunk_head(std::size_t size) {
  OUTHAUL_ASSERT(size > 0);
  std::array<char, 18> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size() - 2, size, 16);
  OUTHAUL_ASSERT(error == std::errc());
  return Bytes(text.data(), end).append(chunk_end);
}

}  // namespace outhaul::http
