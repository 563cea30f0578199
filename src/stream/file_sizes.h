// FileSizes: when hub and node begin new files. The defaults are the product's; the simulation uses small
// ones, so that its crashes meet every change of files.
#pragma once

#include <cstdint>

namespace outhaul::stream {

struct FileSizes {
  std::uint64_t checkpoint_bytes = 16U << 20U;     // JournalConfig::min_checkpoint_bytes
  std::uint64_t small_stream_bytes = 256U << 10U;  // encoded; above it a stream has segments
  std::uint64_t segment_bytes = 64U << 20U;        // of a stream; a new file is begun past this
  std::uint64_t audit_file_bytes = 16U << 20U;     // of the audit log; likewise
};

}  // namespace outhaul::stream
