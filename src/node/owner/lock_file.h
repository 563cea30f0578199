// LockFile: OwnerLock as a file in the node's data directory. Whoever may write there may lock and unlock.
#pragma once

#include <filesystem>

#include "node/owner/owner_lock.h"

namespace outhaul::node {

class LockFile final : public OwnerLock {
 public:
  static constexpr std::string_view file_name = "locked";
  static constexpr std::size_t max_reason_bytes = 200;

  explicit LockFile(const std::filesystem::path& data_directory) : path_(data_directory / file_name) {}

  Result<std::optional<LockNotice>> load() const override;
  // Durable when it returns. Errors as write_private_file; `invalid`: the reason is too long or not one line
  // of UTF-8.
  Result<void> lock(const LockNotice& notice) const;
  // Durable when it returns. False: it was not locked.
  Result<bool> unlock() const;

 private:
  std::filesystem::path path_;
};

}  // namespace outhaul::node
