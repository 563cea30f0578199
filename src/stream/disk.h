// Disk and File: one flat directory of append-only files, as the journal and the segments need them.
// Adapters: FileDisk (POSIX), MemoryDisk (a fake that can crash, tear, fill and lie).
// All calls come from the strand of the executor that the adapter was made with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::stream {

// Destroying a File closes it; bytes that were appended and not synced may or may not survive a power
// loss, and do survive the end of the process. A sync under way is finished all the same.
class File {
 public:
  virtual ~File() = default;
  // Bytes appended so far, synced or not.
  virtual std::uint64_t size() const = 0;
  // Appends all parts as one run, into the system's buffer. All or nothing: after a failure the size is
  // what it was. Fails with disk_full, or unavailable for any other refusal of the system.
  virtual Result<void> append(std::span<const ByteView> parts) = 0;
  // Reads at most `count` bytes; fewer only at the end of the file. Fails with unavailable.
  virtual Result<Bytes> read_at(std::uint64_t offset, std::size_t count) = 0;
  // Cuts the file; `size` is not above size().
  virtual Result<void> truncate(std::uint64_t size) = 0;
  // Everything appended before the call is durable when it gives a value. Concurrent callers share one
  // sync. A failure (unavailable) means that bytes may be lost for good: never retry and claim.
  // Cancelling a caller leaves the sync to the others.
  virtual Task<Result<void>> sync() = 0;
  // Hint: keep this much room ahead of the end, so that a small append changes bytes that the disk already
  // holds and its sync need not write down a new length too. 0: none. Whoever opens the file after a crash
  // may find zeros behind what was appended, as part of its size.
  virtual void keep_room_ahead(std::uint64_t bytes) = 0;
  // Hint: nobody will read the first `up_to` bytes soon. Only synced bytes leave the cache.
  virtual void drop_cache(std::uint64_t up_to) = 0;
};

struct FileEntry {
  std::string name;
  std::uint64_t size = 0;
  bool operator==(const FileEntry&) const = default;
};

enum class OpenMode {
  existing,  // fails with not_found when absent
  create,    // fails with conflict when present; durable after File::sync and Disk::sync_directory
};

class Disk {
 public:
  virtual ~Disk() = default;
  // A name has 1..128 characters of [a-z0-9._-] and starts with a letter; else `invalid`.
  // Fails with disk_full or unavailable too.
  virtual Result<std::unique_ptr<File>> open(const std::string& name, OpenMode mode) = 0;
  // All files, sorted by name.
  virtual Result<std::vector<FileEntry>> list() = 0;
  // Fails with not_found. A File that is open stays readable.
  virtual Result<void> remove(const std::string& name) = 0;
  // Replaces `to` when it exists.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  // Makes creations, removals and renames durable.
  virtual Task<Result<void>> sync_directory() = 0;
  virtual Result<std::uint64_t> free_bytes() = 0;
};

// Renames a file that nothing names to one that nobody reads, and gives that name. For bytes that are most
// likely garbage, but that only a person may delete. Durable after sync_directory.
Result<std::string> set_aside(Disk& disk, const std::string& name);
inline constexpr std::string_view aside_prefix = "aside-";

inline constexpr std::size_t max_file_name_bytes = 128;
bool is_file_name(std::string_view name);

}  // namespace outhaul::stream
