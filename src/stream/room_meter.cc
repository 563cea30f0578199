#include "stream/room_meter.h"

namespace outhaul::stream {

Result<void> RoomMeter::check(std::uint64_t used, std::uint64_t more) {
  if (used + more > quota_bytes_) return fail(ErrorCode::exhausted, "streams: the quota on disk is used up");
  if (is_low_ || until_probe_ < more) {
    // A disk that cannot say how full it is will say so when it is written.
    const auto free = disk_.free_bytes();
    is_low_ = free && *free < floor_bytes_ + more;
    until_probe_ = probe_bytes;
  }
  if (is_low_) return fail(ErrorCode::disk_full, "streams: the disk is below its floor of free space");
  until_probe_ -= more < until_probe_ ? more : until_probe_;
  return {};
}

}  // namespace outhaul::stream
