// Files that decide trust: keys, identity, policy. Written whole or not at all, and read only when
// nobody else could have changed them.
//   errors  not_found: no such file. disk_full. unavailable: any other failure of the system, named.
//           Messages name the path and never the contents.
//   blocks  writing waits for the disk (two fsyncs): for set-up and rare changes, not for a busy strand
#pragma once

#include <filesystem>

#include "base/bytes.h"
#include "base/error.h"
#include "base/secret.h"

namespace outhaul::crypto {

// Mode 0600, by a temporary file in the same directory, fsync, rename, fsync of the directory. Replaces
// what was there; a symbolic link at `path` is replaced and not followed.
Result<void> write_private_file(const std::filesystem::path& path, ByteView bytes);
// The same with mode 0644, for what everybody may read.
Result<void> write_public_file(const std::filesystem::path& path, ByteView bytes);
// As write_private_file, but never replaces: identity_exists when anything stands at `path`.
Result<void> create_private_file(const std::filesystem::path& path, ByteView bytes);

// A regular file of at most `max_bytes`, else too_large. file_permissions_loose, with the command that
// mends it, when it is a symbolic link, belongs to somebody other than this user or root, or when group
// or others have any access.
Result<Secret> read_private_file(const std::filesystem::path& path, std::size_t max_bytes);
// The same, except that group and others may read it (they may not write): policy, public certificates.
Result<Bytes> read_trusted_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace outhaul::crypto
