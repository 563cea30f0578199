// record_scan: where a run of records on disk ends, and whether what stops it is a torn end or damage.
// Pure.
#pragma once

#include <optional>

#include "stream/record.h"

namespace outhaul::stream {

// Whether a whole record follows the bad bytes at the front of `rest`, though the stream stood at
// `expected` there: then the bytes between were once written and are damaged, and this is no torn end.
// Bytes with a zero sector among them were never written (a lost write of an unsynced end) and count as
// torn. Records that a payload happens to contain do not count: their offsets do not fit.
bool is_damaged(ByteView rest, std::uint64_t expected);

// Whether a whole, aligned sector of [from, to) is zero: what a file system leaves where a write
// that was never synced did not reach the disk, though a later one did. Offsets are those of the file.
bool has_zero_sector(ByteView file, std::uint64_t from, std::uint64_t to);

}  // namespace outhaul::stream
