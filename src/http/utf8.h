// UTF-8 as it stands on the wire: what peers send must be valid before it is kept or shown.
#pragma once

#include <string_view>

namespace outhaul::http {

// Bytes at the front of `text` that are whole, valid characters (no surrogates, no overlong forms).
std::size_t valid_utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

}  // namespace outhaul::http
