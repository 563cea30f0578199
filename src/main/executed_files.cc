#include "main/executed_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/digest.h"
#include "crypto/file_descriptor.h"
#include "sandbox/process_launcher.h"

namespace outhaul {
namespace {

constexpr std::string_view launcher_default_path = "/usr/local/bin:/usr/bin:/bin";
constexpr std::size_t read_bytes = 1U << 20U;

std::string_view path_of(const sandbox::ProcessSpec& spec) {
  constexpr std::string_view prefix = "PATH=";
  for (const std::string_view variable : spec.environment) {
    if (variable.starts_with(prefix)) return variable.substr(prefix.size());
  }
  return launcher_default_path;
}

std::string in_directory(const sandbox::ProcessSpec& spec, const std::string& path) {
  return path.starts_with('/') ? path : spec.directory + "/" + path;
}

bool is_executable(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// Empty when there is none.
std::string resolve(const sandbox::ProcessSpec& spec) {
  const std::string& name = spec.argv.front();
  if (name.find('/') != name.npos) return in_directory(spec, name);
  std::string_view rest = path_of(spec);
  while (!rest.empty()) {
    const auto directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    if (directory.empty()) continue;
    auto path = in_directory(spec, std::string(directory) + "/" + name);
    if (is_executable(path)) return path;
  }
  return {};
}

std::int64_t nanoseconds_of(const timespec& time) {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return time.tv_sec * ns_per_s + time.tv_nsec;
}

Bytes read_digest(int fd) {
  crypto::Sha256 hash;
  Bytes buffer(read_bytes, '\0');
  while (true) {
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return hash.digest();
    if (got < 0) return {};
    hash.update(ByteView(buffer).substr(0, static_cast<std::size_t>(got)));
  }
}

}  // namespace

node::ExecutedFile ExecutedFiles::find(const sandbox::ProcessSpec& spec) {
  auto path = resolve(spec);
  if (path.empty()) return {};
  auto digest = digest_of(path);
  return {std::move(path), std::move(digest)};
}

Bytes ExecutedFiles::digest_of(const std::string& path) {
  // O_NONBLOCK: a pipe under that name must not hold up the node.
  const crypto::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return {};
  const Version version{status.st_dev, status.st_ino, status.st_size, nanoseconds_of(status.st_mtim),
                        nanoseconds_of(status.st_ctim)};
  if (const auto known = digests_.find(version); known != digests_.end()) return known->second;
  auto digest = read_digest(file.number());
  if (digests_.size() >= max_remembered) digests_.clear();
  digests_[version] = digest;
  return digest;
}

}  // namespace outhaul
