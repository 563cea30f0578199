// ScratchDisk: a view of another disk on which everything can be done and nothing happens: what is
// appended, cut, removed or renamed is so in this view alone, in memory. For reading a data directory with
// the very code that would recover it.
//   errors  those of the disk below
#pragma once

#include <map>
#include <memory>

#include "stream/disk.h"

namespace outhaul::stream {

class ScratchDisk final : public Disk {
 public:
  // The disk outlives this.
  explicit ScratchDisk(Disk& below) : below_(below) {}

  Result<std::unique_ptr<File>> open(const std::string& name, OpenMode mode) override;
  Result<std::vector<FileEntry>> list() override;
  Result<void> remove(const std::string& name) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Task<Result<void>> sync_directory() override { co_return Result<void>(); }
  Result<std::uint64_t> free_bytes() override { return below_.free_bytes(); }

 private:
  struct Content;

  Result<void> look();

  Disk& below_;
  bool has_looked_ = false;
  std::map<std::string, std::shared_ptr<Content>> files_;  // shared with open files
  friend class ScratchFile;
};

}  // namespace outhaul::stream
