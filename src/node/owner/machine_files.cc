#include "node/owner/machine_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>

#include "base/bytes.h"
#include "crypto/digest.h"
#include "crypto/file_descriptor.h"

namespace outhaul::node {
namespace {

constexpr std::size_t read_bytes = 256 * 1024;
constexpr std::size_t max_script_line = 255;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

std::optional<std::string> resolve(const std::string& path) {
  const std::unique_ptr<char, Free> resolved(::realpath(path.c_str(), nullptr));
  return resolved ? std::optional<std::string>(resolved.get()) : std::nullopt;
}

std::optional<std::string> resolve_directory(const std::string& path) {
  auto real = resolve(path);
  struct stat facts{};
  const bool is_directory = real && ::stat(real->c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
  return is_directory ? std::move(real) : std::nullopt;
}

// As exec tells it: a regular file that this user may execute.
std::optional<std::string> executable(const std::string& path) {
  const auto real = resolve(path);
  struct stat facts{};
  if (!real || ::stat(real->c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return ::access(real->c_str(), X_OK) == 0 ? real : std::nullopt;
}

bool exists(const std::string& path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0;
}

// Never waits: a path may name a pipe or a device.
crypto::FileDescriptor open_file(const std::string& path, struct stat& facts) {
  crypto::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const bool is_file = file.is_open() && ::fstat(file.number(), &facts) == 0 && S_ISREG(facts.st_mode);
  return is_file ? std::move(file) : crypto::FileDescriptor();
}

std::string identity_of(const struct stat& facts) {
  return std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino);
}

// The SHA-256 of all that is read, in hex; every piece goes to `take`, and the reading ends when it fails.
std::optional<std::string> read_whole(int file, const std::function<bool(ByteView)>& take) {
  crypto::Sha256 hash;
  Bytes buffer(read_bytes, '\0');
  std::uint64_t total = 0;  // it may grow meanwhile
  for (ssize_t count = 0; (count = ::read(file, buffer.data(), buffer.size())) != 0;) {
    if (count < 0 || (total += static_cast<std::uint64_t>(count)) > MachineFiles::max_hashed_bytes)
      return std::nullopt;
    const auto piece = ByteView(buffer).substr(0, static_cast<std::size_t>(count));
    hash.update(piece);
    if (!take(piece)) return std::nullopt;
  }
  return to_hex(hash.digest());
}

bool is_roots_alone(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && facts.st_uid == 0 && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Without links. Such a program often looks for what belongs to it beside its own file.
bool is_of_the_system(const std::string& path) {
  if (!path.starts_with("/usr/")) return false;
  for (auto part = path; !part.empty(); part.resize(part.find_last_of('/'))) {
    if (!is_roots_alone(part)) return false;
  }
  return true;
}

// A file in memory without a name, that may be executed.
int make_copy() { return ::memfd_create("approved", MFD_CLOEXEC | MFD_ALLOW_SEALING); }

bool append(const sandbox::Descriptor& copy, ByteView piece) {
  while (!piece.empty()) {
    const auto count = ::write(copy.number(), piece.data(), piece.size());
    if (count <= 0) return false;
    piece.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool seal(const sandbox::Descriptor& copy) {
  return ::fcntl(copy.number(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
}

}  // namespace

std::optional<std::string> MachineFiles::find_program(const std::string& name, const std::string& search_path,
                                                      const std::string& directory) const {
  if (name.starts_with('/')) return executable(name);
  if (name.contains('/')) return executable(directory + "/" + name);
  for (std::string_view rest = search_path; !rest.empty();) {
    const auto colon = rest.find(':');
    const auto part = rest.substr(0, colon);
    // The launcher skips empty parts too.
    if (!part.empty()) {
      const auto base = part.starts_with('/') ? std::string(part) : directory + "/" + std::string(part);
      if (auto found = executable(base + "/" + name)) return found;
    }
    rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
  }
  return std::nullopt;
}

std::optional<std::string> MachineFiles::real_path(const std::string& path) const {
  if (auto real = resolve(path)) return real;
  // A link that leads nowhere may lead anywhere once something is made there.
  if (exists(path)) return std::nullopt;
  const auto slash = path.find_last_of('/');
  if (slash == path.npos) return std::nullopt;
  const auto last = path.substr(slash + 1);
  if (last.empty() || last == "." || last == "..") return std::nullopt;
  const auto parent = resolve_directory(slash == 0 ? "/" : path.substr(0, slash));
  if (!parent) return std::nullopt;
  return (*parent == "/" ? "" : *parent) + "/" + last;
}

std::optional<std::string> MachineFiles::identity(const std::string& path) const {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return identity_of(facts);
}

std::vector<std::string> MachineFiles::script_line(const std::string& path) const {
  struct stat facts{};
  const auto file = open_file(path, facts);
  char text[max_script_line + 1];
  const auto count = file.is_open() ? ::read(file.number(), text, max_script_line) : 0;
  if (count < 3 || text[0] != '#' || text[1] != '!') return {};
  std::string line(text + 2, static_cast<std::size_t>(count) - 2);
  line.resize(std::min(line.find('\n'), line.size()));
  std::istringstream words(line);
  std::vector<std::string> list;
  for (std::string word; words >> word;) list.push_back(word);
  return list;
}

std::optional<std::string> MachineFiles::sha256(const std::string& path) const {
  struct stat facts{};
  const auto file = open_file(path, facts);
  if (!file.is_open() || static_cast<std::uint64_t>(facts.st_size) > max_hashed_bytes) return std::nullopt;
  return read_whole(file.number(), [](ByteView) { return true; });
}

std::optional<HeldFile> MachineFiles::hold(const std::string& path) const {
  struct stat facts{};
  const auto file = open_file(path, facts);
  if (!file.is_open() || static_cast<std::uint64_t>(facts.st_size) > max_hashed_bytes) return std::nullopt;
  const bool is_in_place = is_of_the_system(path);
  sandbox::Descriptor copy(is_in_place ? -1 : make_copy());
  if (!is_in_place && !copy.is_open()) return std::nullopt;
  auto hash = read_whole(file.number(), [&](ByteView piece) { return is_in_place || append(copy, piece); });
  if (!hash || !(is_in_place || seal(copy))) return std::nullopt;
  HeldFile held{identity_of(facts), *std::move(hash), nullptr};
  if (!is_in_place) held.descriptor = std::make_shared<const sandbox::Descriptor>(std::move(copy));
  return held;
}

std::optional<HeldFile> MachineFiles::hold_directory(const std::string& path) const {
  sandbox::Descriptor directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat facts{};
  if (!directory.is_open() || ::fstat(directory.number(), &facts) != 0) return std::nullopt;
  return HeldFile{identity_of(facts), {}, std::make_shared<const sandbox::Descriptor>(std::move(directory))};
}

}  // namespace outhaul::node
