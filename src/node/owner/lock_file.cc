#include "node/owner/lock_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "crypto/data_files.h"
#include "crypto/file_descriptor.h"
#include "wire/utf8.h"

namespace outhaul::node {
namespace {

constexpr std::size_t max_file_bytes = 4096;

Result<void> sync_directory(const std::filesystem::path& path) {
  const crypto::FileDescriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open() && fsync(directory.number()) == 0) return {};
  return fail(ErrorCode::unavailable, "sync " + path.string() + ": " + std::strerror(errno));
}

}  // namespace

// Its first line is the time, its second the reason. What is written there in another way still locks.
Result<std::optional<LockNotice>> LockFile::load() const {
  const auto text = crypto::read_private_file(path_, max_file_bytes);
  if (!text && text.error().code() == ErrorCode::not_found) return std::optional<LockNotice>();
  if (!text) return std::unexpected(text.error());
  const std::string_view lines = text->reveal_for("the owner's lock");
  LockNotice notice;
  const auto end = std::min(lines.find('\n'), lines.size());
  std::from_chars(lines.data(), lines.data() + end, notice.since.nanoseconds);
  notice.reason = lines.substr(std::min(end + 1, lines.size()));
  while (notice.reason.ends_with('\n')) notice.reason.pop_back();
  return std::optional(std::move(notice));
}

Result<void> LockFile::lock(const LockNotice& notice) const {
  if (notice.reason.size() > max_reason_bytes || notice.reason.contains('\n') ||
      !wire::is_utf8(notice.reason)) {
    return fail(ErrorCode::invalid, "the reason must be one line of at most 200 bytes");
  }
  return crypto::write_private_file(path_,
                                    std::to_string(notice.since.nanoseconds) + "\n" + notice.reason + "\n");
}

Result<bool> LockFile::unlock() const {
  if (::unlink(path_.c_str()) != 0) {
    if (errno == ENOENT) return false;
    return fail(ErrorCode::unavailable, "remove " + path_.string() + ": " + std::strerror(errno));
  }
  OUTHAUL_CHECK(sync_directory(path_.parent_path()));
  return true;
}

}  // namespace outhaul::node
