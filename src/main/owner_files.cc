#include "main/owner_files.h"

#include "config/config_reader.h"
#include "crypto/data_files.h"
#include "crypto/digest.h"

namespace outhaul {
namespace {

constexpr std::string_view standard_directory = "/etc/outhaul";

// Empty: neither directory has it.
std::string find_file(const std::filesystem::path& data_directory, std::string_view name) {
  for (const auto& directory : {data_directory, std::filesystem::path(standard_directory)}) {
    if (std::filesystem::exists(directory / name)) return (directory / name).string();
  }
  return {};
}

Result<void> load_policy(const std::filesystem::path& data_directory, OwnerFiles& files) {
  auto& settings = files.config.settings;
  files.policy_path =
      files.config.policy.empty() ? find_file(data_directory, "policy.yaml") : files.config.policy;
  if (files.policy_path.empty()) return {};
  OUTHAUL_TRY(text, crypto::read_trusted_file(files.policy_path, config::ConfigReader::max_bytes));
  OUTHAUL_TRY(policy, policy::parse_policy(text, files.policy_path));
  if (auto holds = policy::check_enforceable(policy, settings.isolation); !holds) {
    return fail(std::move(holds).error().during(files.policy_path));
  }
  settings.policy = std::move(policy);
  settings.policy_sha256 = crypto::sha256_hex(text);
  return {};
}

}  // namespace

Result<OwnerFiles> load_owner_files(const std::filesystem::path& data_directory,
                                    const std::string& config_file,
                                    const std::vector<wire::IsolationLevel>& isolation) {
  OwnerFiles files;
  files.config_path = config_file.empty() ? find_file(data_directory, "node.yaml") : config_file;
  if (!files.config_path.empty()) {
    OUTHAUL_TRY(text, crypto::read_trusted_file(files.config_path, config::ConfigReader::max_bytes));
    OUTHAUL_TRY(config, node::parse_node_config(text, files.config_path));
    files.config = std::move(config);
  }
  auto& allowed = files.config.settings.isolation;
  allowed.insert(allowed.end(), isolation.begin(), isolation.end());
  auto& workspace = files.config.settings.workspace;
  if (workspace.empty()) workspace = (data_directory / "workspace").string();
  workspace = std::filesystem::absolute(workspace).string();
  OUTHAUL_CHECK(load_policy(data_directory, files));
  return files;
}

}  // namespace outhaul
