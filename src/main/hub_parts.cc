#include "main/hub_parts.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "crypto/data_files.h"
#include "hub/hub_data.h"

namespace outhaul {
namespace {

constexpr std::string_view standard_config = "/etc/outhaul/hub.yaml";

}  // namespace

int report_fault(const Error& error) {
  fmt::print(stderr, "outhaul-hub: {} [{}]\n", error.what(), name_of(error.code()));
  for (const auto& detail : error.details()) fmt::print(stderr, "  {}: {}\n", detail.name, detail.value);
  fmt::print(stderr, "  {}\n", info_of(error.code()).remedy);
  return 1;
}

Result<hub::HubConfig> load_hub_config(const HubOptions& options) {
  std::string path = options.config_file;
  if (path.empty() && !std::filesystem::exists(standard_config)) return hub::HubConfig();
  if (path.empty()) path = standard_config;
  OUTHAUL_TRY(text, crypto::read_trusted_file(path, hub::ConfigReader::max_bytes));
  return hub::parse_hub_config(text, path);
}

store::SqliteLocation hub_database(const crypto::DataDirectory& data, const std::string& deployment) {
  return {data.file(hub::database_file).string(), deployment};
}

}  // namespace outhaul
