// RoomMeter: whether ordinary records may still be taken: the quota of all streams, and a floor of free
// space on the disk, looked at once per probe_bytes and at each call while it is low.
#pragma once

#include <cstdint>

#include "stream/disk.h"

namespace outhaul::stream {

class RoomMeter {
 public:
  static constexpr std::uint64_t probe_bytes = 1U << 20U;

  RoomMeter(Disk& disk, std::uint64_t quota_bytes, std::uint64_t floor_bytes)
      : disk_(disk), quota_bytes_(quota_bytes), floor_bytes_(floor_bytes) {}

  // `used`: encoded bytes of all streams. Fails with exhausted (quota) or disk_full (floor).
  Result<void> check(std::uint64_t used, std::uint64_t more);

 private:
  Disk& disk_;
  std::uint64_t quota_bytes_;
  std::uint64_t floor_bytes_;
  std::uint64_t until_probe_ = 0;
  bool is_low_ = false;
};

}  // namespace outhaul::stream
