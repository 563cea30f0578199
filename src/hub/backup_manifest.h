// The manifest of a backup: what it is of, and the size and SHA-256 of each of its files. It is written last,
// so that a directory with one is a whole backup.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

namespace outhaul::hub {

inline constexpr std::string_view backup_manifest_file = "manifest.json";
inline constexpr std::size_t max_backup_manifest_bytes = 64U << 20U;

struct BackupFile {
  std::string name;  // below the backup's directory: "hub.db", "streams/journal-7"
  std::uint64_t bytes = 0;
  std::string sha256;  // hex
  bool operator==(const BackupFile&) const = default;
};

struct BackupManifest {
  static constexpr int current_format = 1;

  std::string deployment;
  WallTime made_at;
  std::uint64_t epoch = 0;  // of the hub that was backed up
  std::vector<BackupFile> files;
  bool operator==(const BackupManifest&) const = default;
};

Bytes serialise_backup_manifest(const BackupManifest& manifest);
//   errors  backup_foreign: no manifest of a hub's backup. data_format_newer. backup_damaged: not as it was
//   written;
//           a name in it leaves the directory
Result<BackupManifest> parse_backup_manifest(ByteView text);

}  // namespace outhaul::hub
