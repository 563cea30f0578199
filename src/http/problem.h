// Errors as application/problem+json (RFC 9457), and back again in a client.
#pragma once

#include <optional>

#include "base/error.h"
#include "http/message.h"

namespace outhaul::http {

// {type, title, status, code, detail, class, details: {name: value…}}. The status is the code's own.
// Class retry carries Retry-After: the detail `retry_after` (seconds) when the error has one, else 1.
Response problem_response(const Error& error);

// The Error that a problem document holds; a document this version cannot read, or a code it does not know,
// becomes `unavailable` for 5xx and 429, else `invalid`, and names the status.
Error parse_problem(int status, ByteView body);

}  // namespace outhaul::http
