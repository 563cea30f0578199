#include "stream/disk_reserve.h"

#include <algorithm>

namespace outhaul::stream {
namespace {

constexpr const char* reserve_name = "reserve";

}  // namespace

bool DiskReserve::take() {
  if (is_held_ || bytes_ == 0) return is_held_;
  auto file = disk_.open(reserve_name, OpenMode::existing);
  if (!file) file = disk_.open(reserve_name, OpenMode::create);
  if (!file) return false;
  // Written and not only sized: a sparse file reserves nothing.
  const Bytes block(std::min<std::uint64_t>(bytes_, 64U << 10U), '\0');
  while ((*file)->size() < bytes_) {
    const ByteView part = ByteView(block).substr(0, bytes_ - (*file)->size());
    if (!(*file)->append({&part, 1})) {
      (void)disk_.remove(reserve_name);
      return false;
    }
  }
  is_held_ = true;
  return true;
}

bool DiskReserve::release() {
  if (!is_held_) return false;
  is_held_ = false;
  return disk_.remove(reserve_name).has_value();
}

}  // namespace outhaul::stream
