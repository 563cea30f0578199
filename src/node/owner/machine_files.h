// MachineFiles: TaskFiles over the machine's own files, as exec would find them for this process's user. A
// file of the system is held by its place: beneath /usr, and nobody but root may write it or a directory
// above it. Any other is held as a sealed copy in memory.
#pragma once

#include "node/owner/task_files.h"

namespace outhaul::node {

class MachineFiles final : public TaskFiles {
 public:
  // A larger file has no hash and no copy, so nothing that depends on one allows it.
  static constexpr std::uint64_t max_hashed_bytes = std::uint64_t{512} << 20U;

  std::optional<std::string> find_program(const std::string& name, const std::string& search_path,
                                          const std::string& directory) const override;
  std::optional<std::string> real_path(const std::string& path) const override;
  std::optional<std::string> identity(const std::string& path) const override;
  std::vector<std::string> script_line(const std::string& path) const override;
  std::optional<std::string> sha256(const std::string& path) const override;
  std::optional<HeldFile> hold(const std::string& path) const override;
  std::optional<HeldFile> hold_directory(const std::string& path) const override;
};

}  // namespace outhaul::node
