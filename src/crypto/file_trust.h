// Who else could have changed a file or directory, and the command that ends it.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace outhaul::crypto {

inline constexpr mode_t access_by_others = S_IRWXG | S_IRWXO;
inline constexpr mode_t writes_by_others = S_IWGRP | S_IWOTH;

// What a file needs before it is believed.
struct TrustRule {
  mode_t forbidden;       // bits that group and others must not have
  std::string_view mend;  // the mode that mends it, for chmod: "600"
};

// Holds when this user or root owns the file and no forbidden bit is set; else file_permissions_loose.
Result<void> check_trust(const std::filesystem::path& path, const struct stat& facts, const TrustRule& rule);

// `unavailable` (or disk_full, not_found) from an errno: "<step> <path>: no space left on device".
std::unexpected<Error> system_failure(std::string_view step, const std::filesystem::path& path,
                                      int error_number);

}  // namespace outhaul::crypto
