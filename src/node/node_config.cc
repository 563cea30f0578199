#include "node/node_config.h"

#include "config/config_reader.h"
#include "crypto/user_key.h"
#include "http/uri.h"

namespace outhaul::node {
namespace {

using namespace std::chrono_literals;

// Keys of earlier versions, each with what replaced it. A key that is dropped moves here for good.
constexpr std::span<const config::RemovedKey> removed_keys;

constexpr std::size_t max_slots = 512;

std::string isolation_fault(const std::string& text) {
  const auto level = wire::parse_isolation(text);
  if (!level) return "must hold isolation levels, such as trusted";
  // Refused here and not ignored: an owner who wrote it believes in a sandbox that is not there.
  return *level == wire::IsolationLevel::trusted
             ? ""
             : "names a level that this version cannot give; only trusted";
}

std::string path_fault(const std::string& text) {
  return text.starts_with('/') ? "" : "must be an absolute path";
}

std::string hub_fault(const std::string& text) {
  return http::parse_url(text) ? "" : "must be the hub's address, such as https://hub.example.org";
}

void read_duration(config::ConfigReader& reader, std::string_view key, Duration& into,
                   config::DurationRange range) {
  auto span = std::chrono::nanoseconds(into);
  reader.read_duration(key, span, range);
  into = span;
}

void read_isolation(config::ConfigReader& reader, NodeSettings& settings) {
  std::vector<std::string> words;
  reader.read_texts("isolation", words, isolation_fault);
  for (const auto& word : words) {
    const auto level = wire::parse_isolation(word);
    if (level) settings.isolation.push_back(*level);
  }
}

constexpr std::size_t max_users = 256;

std::optional<wire::TrustedUser> read_user(config::ConfigReader& map) {
  std::optional<crypto::VerifyKey> key;
  map.find_text("key", [&key](const std::string& text) {
    auto parsed = crypto::parse_user_key(text);
    if (!parsed) return "must be a public key as `outhaul key list` prints it: ed25519:...";
    key = std::move(*parsed);
    return "";
  });
  const auto account = map.find_text("account", [](const std::string& text) {
    return AccountId::parse(text) ? "" : "must be the id of an account: acc_...";
  });
  // For whoever reads the file.
  map.find_text("name", [](const std::string&) { return ""; });
  if (!map.has("key")) map.refuse_map("a trusted person has a `key`");
  map.end_map();
  if (!key) return std::nullopt;
  const auto id = crypto::user_key_id(*key);
  return wire::TrustedUser{{id, std::move(*key)}, account ? AccountId::assume(*account) : AccountId()};
}

void read_users(config::ConfigReader& reader, NodeSettings& settings) {
  bool is_asked_for = false;
  reader.read_flag("require_user_signature", is_asked_for);
  std::vector<wire::TrustedUser> users;
  for (auto& map : reader.read_maps("user_keys", max_users)) {
    if (auto user = read_user(map)) users.push_back(std::move(*user));
  }
  // Each without the other is a node that its owner believes to be something else than it is.
  if (is_asked_for && users.empty())
    reader.refuse("require_user_signature", "names nobody: nothing could run; list `user_keys`");
  if (!is_asked_for && reader.has("user_keys"))
    reader.refuse("user_keys", "has no effect without `require_user_signature: true`");
  if (is_asked_for) settings.users = std::move(users);
}

void read_settings(config::ConfigReader& reader, NodeSettings& settings) {
  read_isolation(reader, settings);
  std::size_t slots = settings.slots;
  reader.read_count("slots", slots, 1, max_slots);
  settings.slots = static_cast<std::uint32_t>(slots);
  reader.read_text("workspace", settings.workspace, path_fault);
  reader.read_text("home", settings.home, path_fault);
  reader.read_mib("spool_mib", settings.spool_bytes, 64);
  reader.read_mib("disk_floor_mib", settings.disk_floor_bytes, 0);
  reader.read_mib("audit_mib", settings.audit_bytes, 64);
  read_duration(reader, "full_disk_patience", settings.full_disk_patience, {0s, 1h});
  read_duration(reader, "drain_limit", settings.drain_limit, {0s, 1h});
  read_duration(reader, "pipe_grace", settings.pipe_grace, {0s, 1min});
  read_duration(reader, "max_term_grace", settings.max_term_grace, {0s, 10min});
}

}  // namespace

Result<NodeConfig> parse_node_config(std::string_view text, std::string file_name) {
  OUTHAUL_TRY(reader, config::ConfigReader::parse(text, std::move(file_name)));
  NodeConfig parsed;
  reader.require_version(1);
  read_settings(reader, parsed.settings);
  reader.read_text("hub", parsed.hub, hub_fault);
  reader.read_text("policy", parsed.policy, path_fault);
  reader.read_flag("hub_may_answer", parsed.settings.hub_may_answer);
  read_users(reader, parsed.settings);
  OUTHAUL_CHECK(reader.finish(removed_keys));
  return parsed;
}

}  // namespace outhaul::node
