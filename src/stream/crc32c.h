// CRC-32C (Castagnoli), the checksum of records and journal frames. The processor's instruction where
// it has one (asked at run time), a table elsewhere.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace outhaul::stream {

// The checksum of `bytes` after a run whose checksum is `before` (0 at the start):
// crc32c(b, crc32c(a)) == crc32c(a + b).
std::uint32_t crc32c(ByteView bytes, std::uint32_t before = 0);

// The portable form, for processors without the instruction. Same values.
std::uint32_t crc32c_by_table(ByteView bytes, std::uint32_t before = 0);

}  // namespace outhaul::stream
