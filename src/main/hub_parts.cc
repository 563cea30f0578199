#include "main/hub_parts.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/remedy.h"
#include "crypto/data_files.h"
#include "hub/hub_data.h"
#include "main/fault_report.h"

namespace outhaul {
namespace {

constexpr std::string_view standard_config = "/etc/outhaul/hub.yaml";

}  // namespace

int report_fault(const Error& error) { return report_fault("outhaul-hub", error); }

Error before_init(Error error, const std::string& data) {
  if (error.code() != ErrorCode::not_found) return error;
  return with_remedy(std::move(error),
                     fmt::format("Make a hub there first: outhaul-hub init --data {} --deployment "
                                 "NAME; or name the directory of the one you have.",
                                 data));
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
