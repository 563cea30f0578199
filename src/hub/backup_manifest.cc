#include "hub/backup_manifest.h"

#include <algorithm>
#include <limits>

#include "http/json_reader.h"
#include "http/json_writer.h"
#include "hub/hub_data.h"
#include "stream/disk.h"

namespace outhaul::hub {
namespace {

constexpr std::string_view kind = "outhaul-hub backup";
constexpr std::size_t max_files = 1'000'000;
constexpr std::size_t sha256_digits = 64;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Of one directory level at most, and nothing that leaves it.
bool is_backup_name(std::string_view name) {
  const std::string prefix = std::string(streams_directory) + "/";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return stream::is_file_name(name) && !name.starts_with('.');
}

bool is_digest(std::string_view text) {
  return text.size() == sha256_digits &&
         std::ranges::all_of(text, [](char c) { return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f'); });
}

std::unexpected<Error> damaged() {
  return fail(ErrorCode::backup_damaged, "the backup's manifest is not what was written");
}

}  // namespace

Bytes serialise_backup_manifest(const BackupManifest& manifest) {
  http::JsonWriter json;
  json.begin_object().field("kind", kind).field("format", BackupManifest::current_format);
  json.field("deployment", manifest.deployment).field("made_at_ns", manifest.made_at.nanoseconds);
  json.field("epoch", manifest.epoch).key("files").begin_array();
  for (const auto& file : manifest.files) {
    json.begin_object().field("name", file.name).field("bytes", file.bytes);
    json.field("sha256", file.sha256).end_object();
  }
  json.end_array().end_object();
  return std::move(json).take_text();
}

Result<BackupManifest> parse_backup_manifest(ByteView text) {
  auto json = http::JsonReader::parse(text);
  if (!json) return damaged();
  if (json->find_string("kind") != kind) {
    return fail(ErrorCode::backup_foreign, "the manifest is not one of a hub's backup");
  }
  const auto format = json->integer("format", 1, most);
  if (format > BackupManifest::current_format) {
    return fail(ErrorCode::data_format_newer, "the backup has format " + std::to_string(format) +
                                                  ", this version knows " +
                                                  std::to_string(BackupManifest::current_format));
  }
  BackupManifest manifest;
  manifest.deployment = json->string("deployment");
  manifest.made_at = {json->integer("made_at_ns", 0, most)};
  manifest.epoch = static_cast<std::uint64_t>(json->integer("epoch", 1, most));
  for (auto& entry : json->objects("files", max_files)) {
    BackupFile file{entry.string("name"), static_cast<std::uint64_t>(entry.integer("bytes", 0, most)),
                    entry.string("sha256")};
    if (!is_backup_name(file.name) || !is_digest(file.sha256)) return damaged();
    manifest.files.push_back(std::move(file));
  }
  if (!json->finish()) return damaged();
  return manifest;
}

}  // namespace outhaul::hub
