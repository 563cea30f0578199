// MemoryDisk: a Disk that keeps the real rules in memory and, on request, fails as disks do. What it
// holds (MemoryDiskImage) outlives the process that it simulates: crash() an image, then open a new
// MemoryDisk over it. For tests and the simulation only.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/async_clock.h"
#include "base/event.h"
#include "base/random.h"
#include "stream/disk.h"

namespace outhaul::stream {

// The platter: what is there, and how much of it would survive a power loss.
class MemoryDiskImage {
 public:
  struct Content {
    Bytes bytes;
    std::uint64_t synced = 0;  // this much surely survives
  };
  // Shared by the names, the synced names and open files: a removed file stays readable.
  using Files = std::map<std::string, std::shared_ptr<Content>>;

  // Bytes that all files together may hold.
  std::uint64_t capacity = std::uint64_t{1} << 40U;
  Files files;
  Files durable_entries;  // names as of the last sync_directory

  std::uint64_t used_bytes() const;
  // What a backup of this disk holds, on a disk of its own; all of it is durable.
  MemoryDiskImage copy() const;
  // The machine loses power (when only a process dies, nothing is lost): of each file the synced part
  // survives, then a random part of the rest, whose last bytes may be torn (garbage); unsynced names may
  // vanish, unsynced removals come back.
  void lose_power(Random& random);

 private:
  void settle_names(Random& random);
};

struct MemoryDiskFaults {
  Duration sync_latency{};
  bool lose_syncs = false;    // sync says yes and makes nothing durable (a lying disk)
  bool fail_syncs = false;    // sync fails with unavailable
  bool fail_appends = false;  // append fails with unavailable
};

class MemoryDisk final : public Disk {
 public:
  // `clock` gives the latency of syncs. Image and clock outlive this.
  MemoryDisk(MemoryDiskImage& image, const Executor& executor, AsyncClock& clock);

  // May be changed at any time.
  MemoryDiskFaults faults;
  // From now on nothing reaches the image: for the process that is about to crash. Calls fail with
  // unavailable; syncs never complete.
  void deaden();

  Result<std::unique_ptr<File>> open(const std::string& name, OpenMode mode) override;
  Result<std::vector<FileEntry>> list() override;
  Result<void> remove(const std::string& name) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Task<Result<void>> sync_directory() override;
  Result<std::uint64_t> free_bytes() override;

 private:
  friend class MemoryFile;
  Result<void> check_alive() const;
  // Waits as long as a sync takes; gives whether it then makes anything durable.
  Task<Result<bool>> pass_sync();

  MemoryDiskImage& image_;
  AsyncClock& clock_;
  Event never_;
  bool is_dead_ = false;
};

}  // namespace outhaul::stream
