// PEM: the text form of DER, read strictly. Not for private keys, whose DER must be wiped: TlsKey,
// SigningKey.
#pragma once

#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::crypto {

// The DER of 1..max_blocks blocks "-----BEGIN <label>-----" with only white space around them.
//   errors  certificate_invalid: anything else, another label and encryption headers included; the message
//           never repeats a byte of `text`
Result<std::vector<Bytes>> parse_pem_blocks(std::string_view text, std::string_view label,
                                            std::size_t max_blocks);

// `der` is not empty.
std::string write_pem_block(ByteView der, std::string_view label);

}  // namespace outhaul::crypto
