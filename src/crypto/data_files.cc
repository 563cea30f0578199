#include "crypto/data_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "crypto/file_descriptor.h"
#include "crypto/file_trust.h"

namespace outhaul::crypto {
namespace {

namespace fs = std::filesystem;

constexpr mode_t private_mode = 0600;
constexpr mode_t public_mode = 0644;
constexpr TrustRule private_rule{access_by_others, "600"};
constexpr TrustRule trusted_rule{writes_by_others, "go-w"};

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A file beside the one to be written, removed again unless it was moved into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& path)
      : name_((directory_of(path) / ("." + path.filename().string() + ".XXXXXX")).string()),
        file_(::mkostemp(name_.data(), O_CLOEXEC)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_.is_open() && !was_moved_) ::unlink(name_.c_str());
  }

  bool is_open() const { return file_.is_open(); }
  int number() const { return file_.number(); }

  // 0 or an errno.
  int replace(const fs::path& path) {
    was_moved_ = ::rename(name_.c_str(), path.c_str()) == 0;
    return was_moved_ ? 0 : errno;
  }
  // A second name for the same file: the one way to appear that fails where something stands already.
  int appear_as(const fs::path& path) const { return ::link(name_.c_str(), path.c_str()) == 0 ? 0 : errno; }

 private:
  std::string name_;
  FileDescriptor file_;
  bool was_moved_ = false;
};

// 0 or an errno.
int write_all(int file, ByteView bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Result<void> fill(const TemporaryFile& file, const fs::path& path, ByteView bytes, mode_t mode) {
  if (!file.is_open()) return system_failure("create", path, errno);
  // mkostemp made it 0600; a mode set here does not depend on the umask.
  if (::fchmod(file.number(), mode) != 0) return system_failure("set the mode of", path, errno);
  if (const int error = write_all(file.number(), bytes); error != 0)
    return system_failure("write", path, error);
  if (::fsync(file.number()) != 0) return system_failure("sync", path, errno);
  return {};
}

// The rename itself is only durable once the directory is.
Result<void> sync_directory(const fs::path& directory) {
  const FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open() || ::fsync(opened.number()) != 0) return system_failure("sync", directory, errno);
  return {};
}

Result<void> write_file(const fs::path& path, ByteView bytes, mode_t mode) {
  TemporaryFile file(path);
  OUTHAUL_CHECK(fill(file, path, bytes, mode));
  if (const int error = file.replace(path); error != 0) return system_failure("write", path, error);
  return sync_directory(directory_of(path));
}

Result<FileDescriptor> open_to_read(const fs::path& path) {
  // O_NONBLOCK: opening a FIFO would otherwise wait for a writer.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.is_open()) return file;
  if (errno != ELOOP) return system_failure("open", path, errno);
  return fail(ErrorCode::file_permissions_loose,
              path.string() + ": is a symbolic link; put the file itself there");
}

Result<Bytes> read_all(int file, const fs::path& path, std::size_t max_bytes) {
  Bytes bytes(max_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto got = ::read(file, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno != EINTR) return system_failure("read", path, errno);
    if (got == 0) break;
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  if (size > max_bytes) {
    return fail(ErrorCode::too_large, path.string() + ": more than " + std::to_string(max_bytes) + " bytes");
  }
  bytes.resize(size);
  return bytes;
}

Result<Bytes> read_file(const fs::path& path, std::size_t max_bytes, const TrustRule& rule) {
  OUTHAUL_TRY(file, open_to_read(path));
  struct stat facts{};
  if (::fstat(file.number(), &facts) != 0) return system_failure("look at", path, errno);
  if (!S_ISREG(facts.st_mode)) return fail(ErrorCode::invalid, path.string() + ": is not a regular file");
  OUTHAUL_CHECK(check_trust(path, facts, rule));
  return read_all(file.number(), path, max_bytes);
}

}  // namespace

Result<void> write_private_file(const fs::path& path, ByteView bytes) {
  return write_file(path, bytes, private_mode);
}

Result<void> write_public_file(const fs::path& path, ByteView bytes) {
  return write_file(path, bytes, public_mode);
}

Result<void> create_private_file(const fs::path& path, ByteView bytes) {
  const TemporaryFile file(path);
  OUTHAUL_CHECK(fill(file, path, bytes, private_mode));
  const int error = file.appear_as(path);
  if (error == EEXIST)
    return fail(ErrorCode::identity_exists, path.string() + ": stands already and is not replaced");
  if (error != 0) return system_failure("create", path, error);
  return sync_directory(directory_of(path));
}

Result<Secret> read_private_file(const fs::path& path, std::size_t max_bytes) {
  OUTHAUL_TRY(bytes, read_file(path, max_bytes, private_rule));
  return Secret(std::move(bytes));
}

Result<Bytes> read_trusted_file(const fs::path& path, std::size_t max_bytes) {
  return read_file(path, max_bytes, trusted_rule);
}

}  // namespace outhaul::crypto
