#include "main/file_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "crypto/digest.h"
#include "crypto/file_descriptor.h"

namespace outhaul {
namespace {

namespace fs = std::filesystem;
using crypto::FileDescriptor;

constexpr std::size_t chunk_bytes = 1U << 20U;
constexpr mode_t file_mode = 0600;
constexpr mode_t directory_mode = 0700;

std::unexpected<Error> failed(const char* what, const fs::path& path, int error) {
  auto code = ErrorCode::unavailable;
  if (error == ENOENT) code = ErrorCode::not_found;
  if (error == ENOSPC || error == EDQUOT) code = ErrorCode::disk_full;
  if (error == EEXIST) code = ErrorCode::conflict;
  return fail(code, std::string(what) + " " + path.string() + ": " + std::strerror(error));
}

Result<void> write_all(const FileDescriptor& file, const fs::path& path, ByteView bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return failed("write", path, errno);
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<FileDescriptor> open_source(const fs::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return failed("open", path, errno);
  struct stat facts{};
  if (::fstat(file.number(), &facts) != 0) return failed("open", path, errno);
  if (!S_ISREG(facts.st_mode)) return fail(ErrorCode::invalid, path.string() + " is no regular file");
  return file;
}

// To its end, or to nowhere when there is no `to`.
Result<hub::BackupFile> read_whole(const fs::path& from, const FileDescriptor* to, const fs::path& to_path) {
  OUTHAUL_TRY(source, open_source(from));
  hub::BackupFile copied;
  crypto::Sha256 sum;
  std::vector<char> chunk(chunk_bytes);
  for (;;) {
    const auto count = ::read(source.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", from, errno);
    if (count == 0) break;
    const ByteView piece(chunk.data(), static_cast<std::size_t>(count));
    sum.update(piece);
    copied.bytes += piece.size();
    if (to != nullptr) OUTHAUL_CHECK(write_all(*to, to_path, piece));
  }
  copied.sha256 = to_hex(sum.digest());
  return copied;
}

}  // namespace

Result<hub::BackupFile> copy_and_sum(const fs::path& from, const fs::path& to) {
  const FileDescriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file_mode));
  if (!target.is_open()) return failed("make", to, errno);
  auto copied = read_whole(from, &target, to);
  if (copied && ::fsync(target.number()) != 0) copied = failed("sync", to, errno);
  if (!copied) ::unlink(to.c_str());
  return copied;
}

Result<hub::BackupFile> sum_of(const fs::path& file) { return read_whole(file, nullptr, {}); }

Result<void> sync_names_in(const fs::path& directory) {
  const FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open() || ::fsync(opened.number()) != 0) return failed("sync", directory, errno);
  return {};
}

Result<void> make_private_directory(const fs::path& path) {
  if (::mkdir(path.c_str(), directory_mode) == 0) return {};
  if (errno != EEXIST) return failed("make", path, errno);
  std::error_code fault;
  if (!fs::is_directory(path, fault) || !fs::is_empty(path, fault) || fault) {
    return fail(ErrorCode::conflict, path.string() + " is there and is not an empty directory");
  }
  if (::chmod(path.c_str(), directory_mode) != 0) return failed("set the mode of", path, errno);
  return {};
}

}  // namespace outhaul
