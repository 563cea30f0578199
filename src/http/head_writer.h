// Heads and chunks as bytes: the other half of head_parser and chunked_decoder.
#pragma once

#include "base/bytes.h"
#include "http/head_parser.h"
#include "http/message.h"

namespace outhaul::http {

// Connection and framing fields are added to `headers`. A target with a space or control character is a
// broken promise.
Bytes write_request_head(Method method, std::string_view target, std::string_view host,
                         const Headers& headers, BodyFraming framing);
// `framing` of kind length is written even when it is 0; of kind none, not at all.
Bytes write_response_head(int status, const Headers& headers, BodyFraming framing, bool keep_alive);

inline constexpr std::string_view chunk_end = "\r\n";
inline constexpr std::string_view last_chunk = "0\r\n\r\n";
// "1a2b\r\n"; `size` is 1 or more.
Bytes chunk_head(std::size_t size);

}  // namespace outhaul::http
