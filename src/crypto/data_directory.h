// DataDirectory: one program's state on disk, held by one process at a time. FORMAT says whose state it is
// and in which version ("outhaul-hub 1"); LOCK is held (flock) and names the holder's process id.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "crypto/file_descriptor.h"

namespace outhaul::crypto {

enum class DataOwner { hub, node };

// Movable; destruction gives up the lock.
class DataDirectory {
 public:
  static constexpr int current_format = 1;

  // Takes an existing directory. Nothing in it is changed but LOCK.
  //   errors  not_found: no directory, or one without FORMAT
  //           data_locked: another process holds it; its id is in the message and detail "pid"
  //           data_format_newer; file_permissions_loose: others may enter
  //           invalid: it belongs to the other program; store_corrupt: FORMAT is damaged
  static Result<DataDirectory> open(const std::filesystem::path& path, DataOwner owner);
  // Takes it without the lock, for who only reads and may do so beside its holder. Errors as open(), but
  // data_locked.
  static Result<DataDirectory> look(const std::filesystem::path& path, DataOwner owner);
  // Makes it first (mode 0700, parents too) when it is missing or empty. Errors as open(), and
  // conflict: it holds files but no FORMAT, so it is somebody else's.
  static Result<DataDirectory> create_or_open(const std::filesystem::path& path, DataOwner owner);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }
  // 1..current_format: what FORMAT said when it was opened.
  int format() const { return format_; }

 private:
  DataDirectory(std::filesystem::path path, FileDescriptor lock, int format);
  std::filesystem::path path_;
  FileDescriptor lock_;
  int format_;
};

}  // namespace outhaul::crypto
