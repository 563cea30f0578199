// What Boost.JSON lets pass when it builds a document, and we do not: a key given twice, NUL in a string.
#pragma once

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::http {

// Fails with `invalid`; detail "offset" says where. `text` need not be JSON: that is an error too.
Result<void> check_json(ByteView text, std::size_t max_depth);

}  // namespace outhaul::http
