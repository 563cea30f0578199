#include "crypto/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "crypto/data_files.h"
#include "crypto/file_trust.h"

namespace outhaul::crypto {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view format_name = "FORMAT";
constexpr std::string_view lock_name = "LOCK";
constexpr std::size_t max_format_bytes = 64;
constexpr mode_t directory_mode = 0700;
constexpr TrustRule directory_rule{access_by_others, "700"};

std::string_view program_of(DataOwner owner) {
  return owner == DataOwner::hub ? "outhaul-hub" : "outhaul-node";
}

bool has_format(const fs::path& path) {
  struct stat facts{};
  return ::lstat((path / format_name).c_str(), &facts) == 0;
}

Result<void> check_directory(const fs::path& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return system_failure("open data directory", path, errno);
  if (!S_ISDIR(facts.st_mode))
    return fail(ErrorCode::invalid, "data directory " + path.string() + ": not a directory");
  return check_trust(path, facts, directory_rule);
}

// "outhaul-hub 1" and a line end.
Result<int> parse_format(std::string_view text, const fs::path& path, DataOwner owner) {
  const auto damaged = [&] {
    return fail(ErrorCode::store_corrupt, "data directory " + path.string() + ": FORMAT is damaged");
  };
  const auto space = text.find(' ');
  if (space == text.npos || !text.ends_with('\n')) return damaged();
  const auto program = text.substr(0, space);
  const auto digits = text.substr(space + 1, text.size() - space - 2);
  int format = 0;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto read = std::from_chars(begin, end, format);
  if (read.ec != std::errc() || read.ptr != end || format < 1) return damaged();
  if (program != program_of(DataOwner::hub) && program != program_of(DataOwner::node)) return damaged();
  if (program != program_of(owner)) {
    return fail(ErrorCode::invalid, "data directory " + path.string() + ": belongs to " +
                                        std::string(program) + " and not to " +
                                        std::string(program_of(owner)));
  }
  if (format > DataDirectory::current_format) {
    return fail(ErrorCode::data_format_newer, "data directory " + path.string() + ": format " +
                                                  std::to_string(format) + ", this version knows " +
                                                  std::to_string(DataDirectory::current_format));
  }
  return format;
}

std::unexpected<Error> held_by_another(const FileDescriptor& lock, const fs::path& path) {
  char text[16] = {};
  const auto size = ::pread(lock.number(), text, sizeof text, 0);
  std::string pid(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  pid.erase(std::ranges::find_if_not(pid, [](char c) { return '0' <= c && c <= '9'; }), pid.end());
  // The holder writes its id just after it took the lock.
  if (pid.empty()) pid = "unknown";
  return fail(Error(ErrorCode::data_locked, "data directory " + path.string() + ": in use by process " + pid)
                  .with("pid", pid));
}

Result<FileDescriptor> take_lock(const fs::path& path) {
  const auto name = path / lock_name;
  FileDescriptor lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!lock.is_open()) return system_failure("open", name, errno);
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return held_by_another(lock, path);
    return system_failure("lock", name, errno);
  }
  const auto pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.number(), 0) != 0 ||
      ::pwrite(lock.number(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return system_failure("write", name, errno);
  }
  return lock;
}

Result<void> make_directory(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return system_failure("create", path.parent_path(), error.value());
  if (::mkdir(path.c_str(), directory_mode) != 0 && errno != EEXIST)
    return system_failure("create", path, errno);
  return {};
}

// What an interrupted start may have left counts as nothing.
bool is_left_over(const std::string& name) { return name == lock_name || name.starts_with(".FORMAT."); }

Result<void> check_unused(const fs::path& path) {
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_left_over(entry->path().filename().string())) continue;
    return fail(ErrorCode::conflict,
                "data directory " + path.string() + ": holds other files; name an empty directory");
  }
  if (error) return system_failure("read", path, error.value());
  return {};
}

// Makes an unused directory ours. An empty one that somebody made beforehand (mkdir) holds no secret yet,
// so that its mode may simply be tightened.
Result<void> claim_unused(const fs::path& path, DataOwner owner) {
  OUTHAUL_CHECK(check_unused(path));
  if (::chmod(path.c_str(), directory_mode) != 0) return system_failure("set the mode of", path, errno);
  OUTHAUL_TRY(lock, take_lock(path));
  if (has_format(path)) return {};  // another process was faster
  const auto format =
      std::string(program_of(owner)) + " " + std::to_string(DataDirectory::current_format) + "\n";
  return write_public_file(path / format_name, format);
}

}  // namespace

DataDirectory::DataDirectory(fs::path path, FileDescriptor lock, int format)
    : path_(std::move(path)), lock_(std::move(lock)), format_(format) {}

Result<DataDirectory> DataDirectory::open(const fs::path& path, DataOwner owner) {
  // Before LOCK is made: a mistyped path stays untouched.
  OUTHAUL_TRY(seen, look(path, owner));
  OUTHAUL_TRY(lock, take_lock(path));
  return DataDirectory(path, std::move(lock), seen.format());
}

Result<DataDirectory> DataDirectory::look(const fs::path& path, DataOwner owner) {
  OUTHAUL_CHECK(check_directory(path));
  if (!has_format(path))
    return fail(ErrorCode::not_found, "data directory " + path.string() + ": has no FORMAT");
  OUTHAUL_TRY(text, read_trusted_file(path / format_name, max_format_bytes));
  OUTHAUL_TRY(format, parse_format(text, path, owner));
  return DataDirectory(path, FileDescriptor(), format);
}

Result<DataDirectory> DataDirectory::create_or_open(const fs::path& path, DataOwner owner) {
  OUTHAUL_CHECK(make_directory(path));
  if (!has_format(path)) OUTHAUL_CHECK(claim_unused(path, owner));
  return open(path, owner);
}

}  // namespace outhaul::crypto
