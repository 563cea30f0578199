// Bytes: owned and viewed byte strings. std::string carries bytes here, as protobuf and OpenSSL edges
// do; nothing assumes that they are text or end with NUL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace outhaul {

using Bytes = std::string;
using ByteView = std::string_view;

// Lower-case hexadecimal, two characters a byte.
std::string to_hex(ByteView bytes);
// Of either case; an empty optional for any other text.
std::optional<Bytes> parse_hex(std::string_view text);
// Standard base64 with padding; parse gives an empty optional for any other text.
std::string to_base64(ByteView bytes);
std::optional<Bytes> parse_base64(std::string_view text);

}  // namespace outhaul
