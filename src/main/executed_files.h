// ExecutedFiles: which file a program's start would execute, and its SHA-256, for receipts. A file that has
// not changed since is not read again.
#pragma once

#include <map>
#include <string>

#include "node/node_settings.h"

namespace outhaul {

class ExecutedFiles {
 public:
  static constexpr std::size_t max_remembered = 256;
  // A larger file is named and not hashed: it would hold up the node.
  static constexpr std::uint64_t max_bytes = 256U << 20U;

  // By the rule of the launcher: PATH of the program's own environment, relative to its directory.
  node::ExecutedFile find(const sandbox::ProcessSpec& spec);

 private:
  // What changes when a file does.
  struct Version {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    auto operator<=>(const Version&) const = default;
  };
  Bytes digest_of(const std::string& path);

  std::map<Version, Bytes> digests_;
};

}  // namespace outhaul
