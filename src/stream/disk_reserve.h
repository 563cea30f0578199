// DiskReserve: a file that only takes room, given up on a full disk so that results still fit, and taken
// again when there is room. Runs on the disk's strand.
#pragma once

#include <cstdint>

#include "stream/disk.h"

namespace outhaul::stream {

class DiskReserve {
 public:
  DiskReserve(Disk& disk, std::uint64_t bytes) : disk_(disk), bytes_(bytes) {}
  // Takes the room when it is not held; gives whether it is now. A disk that has no room is no failure.
  bool take();
  // Gives whether there was room to give up.
  bool release();
  bool is_held() const { return is_held_; }

 private:
  Disk& disk_;
  std::uint64_t bytes_;
  bool is_held_ = false;
};

}  // namespace outhaul::stream
