#include "stream/file_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "stream/sync_worker.h"

namespace outhaul::stream {
namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return ErrorCode::disk_full;
    case ENOENT: return ErrorCode::not_found;
    case EEXIST: return ErrorCode::conflict;
    default: return ErrorCode::unavailable;
  }
}

std::unexpected<Error> system_failure(std::string_view step, const std::string& path, int error_number) {
  return fail(code_of(error_number), fmt::format("{} {}: {}", step, path, std::strerror(error_number)));
}

// Writes all parts at `place`, however often the system takes only some of them. Gives the error number.
int write_all(int fd, std::uint64_t place, std::span<const ByteView> parts) {
  constexpr std::size_t parts_at_once = 64;
  std::size_t skip = 0;  // bytes of the first part that are written
  while (!parts.empty()) {
    iovec vectors[parts_at_once];
    const std::size_t count = std::min(parts.size(), parts_at_once);
    for (std::size_t i = 0; i < count; ++i) {
      const ByteView part = parts[i].substr(i == 0 ? skip : 0);
      vectors[i] = {.iov_base = const_cast<char*>(part.data()), .iov_len = part.size()};
    }
    const ssize_t written = ::pwritev(fd, vectors, static_cast<int>(count), static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    skip += static_cast<std::size_t>(written);
    place += static_cast<std::uint64_t>(written);
    while (!parts.empty() && skip >= parts.front().size()) {
      skip -= parts.front().size();
      parts = parts.subspan(1);
    }
  }
  return 0;
}

class OpenFile final : public File {
 public:
  OpenFile(std::shared_ptr<SyncWorker> worker, int fd, std::string path, std::uint64_t size)
      : descriptor_(std::make_shared<Descriptor>(fd)),
        path_(std::move(path)),
        size_(size),
        allocated_(size),
        syncs_(std::move(worker), descriptor_, SyncWorker::Depth::data) {}

  std::uint64_t size() const override { return size_; }
  Result<void> append(std::span<const ByteView> parts) override;
  Result<Bytes> read_at(std::uint64_t offset, std::size_t count) override;
  Result<void> truncate(std::uint64_t size) override;
  Task<Result<void>> sync() override;
  void keep_room_ahead(std::uint64_t bytes) override { room_ahead_ = bytes; }
  void drop_cache(std::uint64_t up_to) override;

 private:
  int fd() const { return descriptor_->number(); }
  void make_room_for(std::uint64_t bytes);

  std::shared_ptr<Descriptor> descriptor_;
  std::string path_;
  std::uint64_t size_;
  std::uint64_t allocated_;       // the file's length: zeros from size_ on
  std::uint64_t room_ahead_ = 0;  // how far it is made longer at a time
  std::uint64_t dropped_ = 0;
  bool is_broken_ = false;  // a failed append could not be undone
  SyncQueue syncs_;
};

Result<void> OpenFile::append(std::span<const ByteView> parts) {
  if (is_broken_)
    return fail(ErrorCode::unavailable, "append to " + path_ + ": an earlier failure could not be undone");
  std::uint64_t more = 0;
  for (const auto part : parts) more += part.size();
  make_room_for(more);
  if (const int error_number = write_all(fd(), size_, parts); error_number != 0) {
    is_broken_ = ::ftruncate(fd(), static_cast<off_t>(size_)) != 0;
    allocated_ = size_;
    return system_failure("append to", path_, error_number);
  }
  size_ += more;
  allocated_ = std::max(allocated_, size_);
  return {};
}

// Written and not only sized: else each sync would have to write down which blocks are in use by now. Without
// the room, on a full disk, the append says itself whether it fits.
void OpenFile::make_room_for(std::uint64_t bytes) {
  static constexpr char zeros[64U << 10U] = {};
  if (room_ahead_ == 0 || size_ + bytes <= allocated_) return;
  const std::uint64_t wanted = size_ + bytes + room_ahead_;
  std::uint64_t end = std::max(allocated_, size_ + bytes);
  while (end < wanted) {
    const ByteView block(zeros, std::min<std::uint64_t>(sizeof zeros, wanted - end));
    if (write_all(fd(), end, {&block, 1}) != 0) {
      static_cast<void>(::ftruncate(fd(), static_cast<off_t>(allocated_)));
      return;
    }
    end += block.size();
  }
  allocated_ = end;
}

Result<Bytes> OpenFile::read_at(std::uint64_t offset, std::size_t count) {
  if (offset >= size_) return Bytes();
  const std::size_t wanted = std::min<std::uint64_t>(count, size_ - offset);
  Bytes bytes;
  int failure = 0;
  // Without zeros that would only be overwritten.
  bytes.resize_and_overwrite(wanted, [&](char* into, std::size_t) {
    std::size_t have = 0;
    while (have < wanted) {
      const ssize_t got = ::pread(fd(), into + have, wanted - have, static_cast<off_t>(offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) failure = errno;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    return have;
  });
  if (failure != 0) return system_failure("read", path_, failure);
  return bytes;
}

Result<void> OpenFile::truncate(std::uint64_t size) {
  OUTHAUL_ASSERT(size <= size_);
  if (::ftruncate(fd(), static_cast<off_t>(size)) != 0) return system_failure("truncate", path_, errno);
  size_ = allocated_ = size;
  is_broken_ = false;
  return {};
}

Task<Result<void>> OpenFile::sync() {
  const std::string path = path_;  // the file may be closed meanwhile
  const int error_number = co_await syncs_.sync();
  // Whatever the system says, bytes may be lost: a full disk seen at sync time is no reason to retry.
  if (error_number != 0) {
    co_return fail(ErrorCode::unavailable, fmt::format("sync {}: {}", path, std::strerror(error_number)));
  }
  co_return Result<void>();
}

void OpenFile::drop_cache(std::uint64_t up_to) {
  constexpr std::uint64_t page = 4096;
  const std::uint64_t end = up_to / page * page;
  if (end <= dropped_) return;
  ::posix_fadvise(fd(), static_cast<off_t>(dropped_), static_cast<off_t>(end - dropped_),
                  POSIX_FADV_DONTNEED);
  dropped_ = end;
}

}  // namespace

FileDisk::FileDisk(Executor executor, std::filesystem::path directory)
    : executor_(std::move(executor)),
      directory_(std::move(directory)),
      worker_(std::make_shared<SyncWorker>(executor_)) {}

FileDisk::~FileDisk() = default;

Result<std::string> FileDisk::path_of(const std::string& name) const {
  if (!is_file_name(name))
    return fail(ErrorCode::invalid, "file name: not 1 to 128 characters of [a-z0-9._-]");
  return (directory_ / name).string();
}

Result<std::unique_ptr<File>> FileDisk::open(const std::string& name, OpenMode mode) {
  OUTHAUL_TRY(path, path_of(name));
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (mode == OpenMode::create ? O_CREAT | O_EXCL : 0);
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0) return system_failure("open", path, errno);
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    const int error_number = errno;
    ::close(fd);
    return system_failure("open", path, error_number);
  }
  return std::make_unique<OpenFile>(worker_, fd, path, static_cast<std::uint64_t>(status.st_size));
}

Result<std::vector<FileEntry>> FileDisk::list() {
  std::error_code error;
  std::vector<FileEntry> entries;
  for (auto at = std::filesystem::directory_iterator(directory_, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::error_code gone;  // a file may vanish while we look
    const auto size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone && at->is_regular_file(gone)) entries.push_back({at->path().filename().string(), size});
  }
  if (error) return system_failure("list", directory_.string(), error.value());
  std::ranges::sort(entries, {}, &FileEntry::name);
  return entries;
}

Result<void> FileDisk::remove(const std::string& name) {
  OUTHAUL_TRY(path, path_of(name));
  if (::unlink(path.c_str()) != 0) return system_failure("remove", path, errno);
  return {};
}

Result<void> FileDisk::rename(const std::string& from, const std::string& to) {
  OUTHAUL_TRY(from_path, path_of(from));
  OUTHAUL_TRY(to_path, path_of(to));
  if (::rename(from_path.c_str(), to_path.c_str()) != 0) return system_failure("rename", from_path, errno);
  return {};
}

Task<Result<void>> FileDisk::sync_directory() {
  const int fd = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) co_return system_failure("sync", directory_.string(), errno);
  SyncQueue once(worker_, std::make_shared<Descriptor>(fd), SyncWorker::Depth::data_and_metadata);
  const int error_number = co_await once.sync();
  if (error_number != 0)
    co_return fail(ErrorCode::unavailable, fmt::format("sync directory: {}", std::strerror(error_number)));
  co_return Result<void>();
}

Result<std::uint64_t> FileDisk::free_bytes() {
  struct statvfs status{};
  if (::statvfs(directory_.c_str(), &status) != 0)
    return system_failure("measure", directory_.string(), errno);
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace outhaul::stream
