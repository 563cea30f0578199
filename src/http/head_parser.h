// Heads of HTTP/1.1 messages: from bytes to values. Stricter than the RFC wherever two readers of the same
// bytes could disagree (request smuggling): see decisions/0020.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/error.h"
#include "http/message.h"

namespace outhaul::http {

enum class BodyKind { none, length, chunked, until_close };
struct BodyFraming {
  BodyKind kind = BodyKind::none;
  std::uint64_t length = 0;  // of kind length; 1 or more
};

struct RequestHead {
  Request request;
  BodyFraming framing;
  bool is_http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;
};

struct ResponseHead {
  int status = 0;
  Headers headers;
  BodyFraming framing;
  bool keep_alive = true;
};

// The size of the head (blank line included) at the front of `bytes`; 0 while it is incomplete.
//   errors  invalid: a line that does not end in CRLF, which no amount of further bytes can mend.
//           too_large: over `max_bytes` without an end
Result<std::size_t> find_head_end(ByteView bytes, std::size_t max_bytes);

// `head` is what find_head_end measured. Fails with `invalid`, and with method_not_allowed for a method
// that no route can have. No message repeats the bytes.
Result<RequestHead> parse_request_head(ByteView head);
// `request`: the method that is answered; HEAD has no body whatever the headers say. protocol_violation.
Result<ResponseHead> parse_response_head(ByteView head, Method request);

}  // namespace outhaul::http
