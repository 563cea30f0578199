#include "hub/hub_config.h"

#include "crypto/node_identity.h"
#include "http/uri.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

// Keys of earlier versions, each with what replaced it. A key that is dropped moves here for good.
constexpr std::span<const config::RemovedKey> removed_keys;

std::string listen_fault(const std::string& text) {
  return http::parse_listen_address(text)
             ? ""
             : "must be an address and a port, such as [::]:443 or 127.0.0.1:8443";
}

std::string name_fault(const std::string& text) {
  // An IPv6 address has colons and an IPv4 address ends with digits; neither is a DNS name.
  const bool is_address = text.find_first_not_of("0123456789abcdefABCDEF.:") == text.npos && text.size() >= 2;
  return crypto::is_dns_name(text) || is_address ? "" : "must hold DNS names and addresses";
}

std::string path_fault(const std::string& text) {
  return text.starts_with('/') ? "" : "must be an absolute path";
}

void read_limits(config::ConfigReader& reader, HubSettings& settings) {
  reader.read_duration("heartbeat_interval", settings.heartbeat_interval, {1s, 5min});
  reader.read_duration("dead_after", settings.dead_after, {2s, 1h});
  reader.read_duration("queue_timeout", settings.queue_timeout, {1s, 24h * 30});
  reader.read_duration("envelope_lifetime", settings.envelope_lifetime, {10s, 1h});
  reader.read_duration("term_grace", settings.term_grace, {0s, 10min});
  reader.read_duration("drain_limit", settings.drain_limit, {0s, 1h});
  reader.read_duration("enrolment_token_lifetime", settings.enrolment_token_lifetime, {1min, 24h * 30});
  reader.read_duration("node_certificate_lifetime", settings.node_certificate_lifetime, {10s, 24h * 90});
  reader.read_duration("lost_after", settings.lost_after, {1min, 24h * 365});
  reader.read_duration("ephemeral_lost_after", settings.ephemeral_lost_after, {2s, 24h * 365});
  reader.read_count("max_live_tasks", settings.max_live_tasks, 1, 1'000'000);
  reader.read_mib("audit_mib", settings.audit_bytes, 64);
  if (settings.dead_after < 2 * settings.heartbeat_interval) {
    reader.refuse("dead_after", "must be at least twice `heartbeat_interval`");
  }
  if (settings.ephemeral_lost_after < settings.dead_after) {
    reader.refuse("ephemeral_lost_after", "must be at least `dead_after`");
  }
}

}  // namespace

Result<HubConfig> parse_hub_config(std::string_view text, std::string file_name) {
  return parse_hub_config(text, std::move(file_name), removed_keys);
}

Result<HubConfig> parse_hub_config(std::string_view text, std::string file_name,
                                   std::span<const config::RemovedKey> removed) {
  OUTHAUL_TRY(reader, config::ConfigReader::parse(text, std::move(file_name)));
  HubConfig config;
  reader.require_version(1);
  reader.read_text("listen", config.listen, listen_fault);
  reader.read_texts("server_names", config.server_names, name_fault);
  reader.read_text("certificate_file", config.certificate_file, path_fault);
  reader.read_text("key_file", config.key_file, path_fault);
  if (config.certificate_file.empty() != config.key_file.empty()) {
    reader.refuse("certificate_file", "and `key_file` belong together");
  }
  read_limits(reader, config.settings);
  OUTHAUL_CHECK(reader.finish(removed));
  return config;
}

}  // namespace outhaul::hub
