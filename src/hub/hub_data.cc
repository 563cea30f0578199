#include "hub/hub_data.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "crypto/data_files.h"
#include "crypto/node_identity.h"
#include "http/json_reader.h"
#include "http/json_writer.h"

namespace outhaul::hub {
namespace {

constexpr std::string_view begun_file = "init-begun";
constexpr std::string_view mark_file = "hub.json";
constexpr std::string_view authority_key_file = "ca.key";
constexpr std::string_view authority_file = "ca.pem";
constexpr std::string_view signing_key_file = "signing.key";
constexpr std::size_t max_file_bytes = 64U << 10U;

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

void add_host_name(crypto::ServerNames& names) {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return;
  std::string host(name.data());
  std::ranges::transform(host, host.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (crypto::is_dns_name(host)) names.dns.push_back(host);
}

void drop_repeats(std::vector<std::string>& names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
}

Result<ServerIdentity> issue(const crypto::CertificateAuthority& authority, const crypto::ServerNames& names,
                             WallTime now, Random& random) {
  OUTHAUL_TRY(key, crypto::TlsKey::generate());
  const crypto::Validity validity{now, server_certificate_lifetime};
  OUTHAUL_TRY(certificate, authority.issue_server(key.spki(), names, validity, random));
  return ServerIdentity{certificate.pem() + authority.certificate().pem(), key.pem()};
}

Result<void> check_empty(const crypto::DataDirectory& data) {
  if (std::filesystem::exists(data.file(mark_file))) {
    return fail(ErrorCode::conflict, data.path().string() + " already holds a hub");
  }
  if (std::filesystem::exists(data.file(authority_key_file)) && !is_init_cut_off(data)) {
    return fail(ErrorCode::conflict, data.path().string() +
                                         " holds the keys of a hub, but no hub.json: bring that back from a "
                                         "copy, or name another directory");
  }
  return {};
}

// Everything but what makes it a data directory of ours. Nothing of it was ever served.
Result<void> start_over(const crypto::DataDirectory& data) {
  std::error_code fault;
  for (const auto name : {authority_key_file, authority_file, signing_key_file, database_file,
                          streams_directory, admin_token_file}) {
    for (const auto* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove_all(data.file(std::string(name) + suffix), fault);
      if (fault) return fail(ErrorCode::unavailable, data.file(name).string() + ": " + fault.message());
    }
  }
  return {};
}

struct Mark {
  std::string deployment;
  KeyId signing_key_id;
};

Result<Mark> read_mark(const std::filesystem::path& path) {
  OUTHAUL_TRY(text, crypto::read_trusted_file(path, max_file_bytes));
  const auto damaged = [&path] {
    return fail(ErrorCode::config_invalid, path.string() + " is not what `init` wrote");
  };
  auto json = http::JsonReader::parse(text);
  if (!json) return damaged();
  Mark mark;
  mark.deployment = json->string("deployment");
  const auto key_id = KeyId::parse(json->string("signing_key_id"));
  if (!json->finish() || !key_id || !crypto::is_dns_name(mark.deployment)) return damaged();
  mark.signing_key_id = *key_id;
  return mark;
}

}  // namespace

Result<HubIdentity> make_identity(const crypto::DataDirectory& data, const std::string& deployment,
                                  WallTime now, Random& random) {
  if (!crypto::is_dns_name(deployment)) {
    return fail(ErrorCode::invalid,
                "the deployment must be a lower-case DNS name, such as outhaul.example.org");
  }
  OUTHAUL_CHECK(check_empty(data));
  OUTHAUL_CHECK(start_over(data));
  OUTHAUL_CHECK(crypto::write_public_file(data.file(begun_file), ""));
  OUTHAUL_TRY(authority,
              crypto::CertificateAuthority::make("Outhaul CA", {now, crypto::authority_lifetime}, random));
  auto signing_key = crypto::SigningKey::generate(random);
  OUTHAUL_CHECK(
      crypto::create_private_file(data.file(authority_key_file), authority.key_pem().reveal_for("keep it")));
  OUTHAUL_CHECK(
      crypto::create_private_file(data.file(signing_key_file), signing_key.pem().reveal_for("keep it")));
  OUTHAUL_CHECK(crypto::write_public_file(data.file(authority_file), authority.certificate().pem()));
  return HubIdentity{deployment, KeyId::make(now, random), std::move(authority), std::move(signing_key)};
}

Result<void> mark_complete(const crypto::DataDirectory& data, const HubIdentity& identity) {
  http::JsonWriter json;
  json.begin_object().field("deployment", identity.deployment);
  json.field("signing_key_id", identity.signing_key_id.text()).end_object();
  OUTHAUL_CHECK(crypto::write_public_file(data.file(mark_file), std::move(json).take_text() + "\n"));
  std::error_code ignored;  // beside hub.json it means nothing
  std::filesystem::remove(data.file(begun_file), ignored);
  return {};
}

bool is_init_cut_off(const crypto::DataDirectory& data) {
  return std::filesystem::exists(data.file(begun_file)) && !std::filesystem::exists(data.file(mark_file));
}

std::span<const std::string_view> identity_files() {
  static constexpr std::array files = {authority_key_file, authority_file, signing_key_file, mark_file};
  return files;
}

Result<HubIdentity> load_identity(const crypto::DataDirectory& data) {
  auto mark = read_mark(data.file(mark_file));
  if (!mark && mark.error().code() == ErrorCode::not_found) {
    const auto* what = is_init_cut_off(data)
                           ? " holds an `init` that was cut off: run `outhaul-hub init` again"
                           : " holds no hub: run `outhaul-hub init` first";
    return fail(ErrorCode::not_found, data.path().string() + what);
  }
  if (!mark) return fail(std::move(mark).error());
  OUTHAUL_TRY(authority_key, crypto::read_private_file(data.file(authority_key_file), max_file_bytes));
  OUTHAUL_TRY(authority_pem, crypto::read_trusted_file(data.file(authority_file), max_file_bytes));
  OUTHAUL_TRY(authority, crypto::CertificateAuthority::load(authority_pem, authority_key));
  OUTHAUL_TRY(signing_pem, crypto::read_private_file(data.file(signing_key_file), max_file_bytes));
  auto signing_key = crypto::SigningKey::parse_pem(signing_pem);
  if (!signing_key) return fail(std::move(signing_key).error().during(data.file(signing_key_file).string()));
  return HubIdentity{mark->deployment, mark->signing_key_id, std::move(authority), std::move(*signing_key)};
}

std::string node_side_name(const std::string& deployment) { return "node." + deployment; }

Result<ServerIdentity> issue_node_side(const crypto::CertificateAuthority& authority,
                                       const std::string& deployment, WallTime now, Random& random) {
  return issue(authority, {.dns = {node_side_name(deployment)}, .ips = {}}, now, random);
}

Result<ServerIdentity> issue_people_side(const crypto::CertificateAuthority& authority,
                                         const std::vector<std::string>& names, WallTime now,
                                         Random& random) {
  crypto::ServerNames all{.dns = {"localhost"}, .ips = {"127.0.0.1", "::1"}};
  add_host_name(all);
  for (const auto& name : names) (is_address(name) ? all.ips : all.dns).push_back(name);
  drop_repeats(all.dns);
  drop_repeats(all.ips);
  return issue(authority, all, now, random);
}

}  // namespace outhaul::hub
