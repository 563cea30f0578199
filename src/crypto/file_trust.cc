#include "crypto/file_trust.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace outhaul::crypto {
namespace {

// The path as a shell takes it, since the remedy is meant to be pasted.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=,@";
  if (std::ranges::all_of(text, [&](char c) { return plain.find(c) != plain.npos; })) return text;
  std::string quoted = "'";
  for (const char c : text) c == '\'' ? quoted.append("'\\''") : quoted.append(1, c);
  return quoted + "'";
}

std::unexpected<Error> loose(const std::filesystem::path& path, std::string_view fault,
                             const std::string& remedy) {
  auto what =
      path.string() + ": " + std::string(fault) + "; run: " + remedy + " " + shell_word(path.string());
  return fail(Error(ErrorCode::file_permissions_loose, std::move(what)).with("path", path.string()));
}

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case ENOSPC:
    case EDQUOT: return ErrorCode::disk_full;
    default: return ErrorCode::unavailable;
  }
}

}  // namespace

Result<void> check_trust(const std::filesystem::path& path, const struct stat& facts, const TrustRule& rule) {
  // Root can change every file anyway, so a file of root's is as good as one's own.
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
    return loose(path, "belongs to another user", "chown " + std::to_string(::geteuid()));
  }
  if ((facts.st_mode & rule.forbidden) != 0) {
    const bool is_writable = (facts.st_mode & writes_by_others) != 0;
    return loose(path, is_writable ? "others can change it" : "others can read it",
                 "chmod " + std::string(rule.mend));
  }
  return {};
}

std::unexpected<Error> system_failure(std::string_view step, const std::filesystem::path& path,
                                      int error_number) {
  auto reason = std::generic_category().message(error_number);
  return fail(code_of(error_number), std::string(step) + " " + path.string() + ": " + reason);
}

}  // namespace outhaul::crypto
