// with_reserve: an append that must not fail for want of a few bytes on a full disk.
#pragma once

#include "stream/stream_store.h"

namespace outhaul::node {

// Calls `append`, and once more after giving up the disk's reserve when there was no room.
template <class Append>
auto with_reserve(stream::StreamStore& streams, Append append) {
  auto written = append();
  if (written || written.error().code() != ErrorCode::disk_full) return written;
  streams.release_reserve();
  return append();
}

}  // namespace outhaul::node
