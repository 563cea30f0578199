// UTF-8 as protobuf demands it of every string field: a message with broken text is refused whole by its
// receiver, so text from outside is checked or mended before it goes into one.
#pragma once

#include <string>
#include <string_view>

namespace outhaul::wire {

// RFC 3629: no overlong form, no surrogate, nothing over U+10FFFF.
bool is_utf8(std::string_view text);
// At most `max_bytes`, cut between characters; control characters become spaces and broken bytes '?'.
std::string printable_utf8(std::string_view text, std::size_t max_bytes);

}  // namespace outhaul::wire
