// FileDisk: a Disk over a directory of the machine. Syncs run on one thread of its own and complete on
// the executor; all else is done at once by the caller's thread, in the system's cache.
#pragma once

#include <filesystem>
#include <memory>

#include "stream/disk.h"

namespace outhaul::stream {

class SyncWorker;

class FileDisk final : public Disk {
 public:
  // `directory` exists (else open() and list() fail with unavailable). The executor's context outlives
  // this; destroying it waits for the sync under way.
  FileDisk(Executor executor, std::filesystem::path directory);
  ~FileDisk() override;
  FileDisk(const FileDisk&) = delete;
  FileDisk& operator=(const FileDisk&) = delete;

  Result<std::unique_ptr<File>> open(const std::string& name, OpenMode mode) override;
  Result<std::vector<FileEntry>> list() override;
  Result<void> remove(const std::string& name) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Task<Result<void>> sync_directory() override;
  Result<std::uint64_t> free_bytes() override;

 private:
  Result<std::string> path_of(const std::string& name) const;

  Executor executor_;
  std::filesystem::path directory_;
  // Shared with the files, which may outlive the disk by one destructor.
  std::shared_ptr<SyncWorker> worker_;
};

}  // namespace outhaul::stream
