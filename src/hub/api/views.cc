#include "hub/api/views.h"

#include "base/time_text.h"
#include "crypto/user_key.h"
#include "http/json_reader.h"

namespace outhaul::hub {
namespace {

void write_labels(http::JsonWriter& json, const store::Labels& labels) {
  json.key("labels").begin_object();
  for (const auto& [name, value] : labels) json.field(name, value);
  json.end_object();
}

void write_token_fields(http::JsonWriter& json, const store::ApiTokenRow& row) {
  json.field("id", row.id.text()).field("account_id", row.account.text()).field("role", name_of(row.role));
  json.field("name", row.name);
  write_time(json, "created_at", row.created_at);
  write_time(json, "expires_at", row.expires_at);
  write_time(json, "last_used_at", row.last_used_at);
}

void write_node_token_fields(http::JsonWriter& json, const store::EnrolmentTokenRow& row) {
  json.field("id", row.id.text()).field("pool", row.pool);
  write_labels(json, row.labels);
  json.key("planes").begin_array();
  for (const auto& plane : row.planes) json.value(plane);
  json.end_array();
  write_time(json, "created_at", row.created_at);
  write_time(json, "expires_at", row.expires_at);
  json.field("needs_approval", row.needs_approval);
  write_text_or_null(json, "node_id", row.redemption ? row.redemption->node.text() : std::string());
}

void write_load(http::JsonWriter& json, const v1::Load& load) {
  json.key("load").begin_object();
  json.field("running", load.running())
      .field("slots", load.slots())
      .field("load_average", load.load_average());
  json.field("spool_bytes", load.spool_bytes()).field("disk_free_bytes", load.disk_free_bytes());
  json.field("failed_tasks", load.failed_tasks()).field("crashes", load.crashes());
  json.end_object();
}

void write_certificate(http::JsonWriter& json, const store::NodeRow& row) {
  json.key("certificate").begin_object().field("serial", row.certificate.serial);
  json.field("key_sha256", row.certificate.fingerprint);
  write_time(json, "expires_at", row.certificate.expires_at);
  json.field("rotating", row.rotation.is_pending()).end_object();
}

std::string_view health_of(const NodeRecord& record) {
  if (record.attachment) return "attached";
  return record.row.last_seen.manifest_json.empty() ? "new" : "away";
}

std::string platform_of(const NodeRecord& record) {
  auto manifest = http::JsonReader::parse(record.row.last_seen.manifest_json);
  return manifest ? manifest->find_string("platform").value_or("") : "";
}

}  // namespace

void write_time(http::JsonWriter& json, std::string_view key, WallTime time) {
  json.field(key, time_text(time));
}

void write_time(http::JsonWriter& json, std::string_view key, std::optional<WallTime> time) {
  if (time) return write_time(json, key, *time);
  json.key(key).null();
}

void write_text_or_null(http::JsonWriter& json, std::string_view key, const std::string& text) {
  json.key(key);
  if (text.empty()) {
    json.null();
  } else {
    json.value(text);
  }
}

std::string_view name_of(store::Role role) { return role == store::Role::admin ? "admin" : "member"; }

void write_account(http::JsonWriter& json, const store::AccountRow& row) {
  json.begin_object().field("id", row.id.text()).field("name", row.name).field("role", name_of(row.role));
  json.field("disabled", row.disabled_at.has_value());
  write_time(json, "created_at", row.created_at);
  json.end_object();
}

void write_token(http::JsonWriter& json, const store::ApiTokenRow& row) {
  json.begin_object();
  write_token_fields(json, row);
  json.end_object();
}

void write_new_token(http::JsonWriter& json, const NewApiToken& made) {
  json.begin_object();
  write_token_fields(json, made.row);
  json.field("token", made.token.reveal_for("show it once")).end_object();
}

void write_user_key(http::JsonWriter& json, const store::UserKeyRow& row) {
  const auto key = crypto::VerifyKey::parse(row.public_key);
  json.begin_object().field("id", row.id.text()).field("account_id", row.account.text());
  json.field("name", row.name).field("public_key", key ? crypto::user_key_text(*key) : std::string());
  write_time(json, "created_at", row.created_at);
  json.end_object();
}

void write_node_token(http::JsonWriter& json, const store::EnrolmentTokenRow& row) {
  json.begin_object();
  write_node_token_fields(json, row);
  json.end_object();
}

void write_waiting_enrolment(http::JsonWriter& json, const store::EnrolmentTokenRow& row) {
  json.begin_object().field("id", row.id.text()).field("name", row.wish->name);
  json.field("fingerprint", row.wish->fingerprint)
      .field("address", row.wish->address)
      .field("pool", row.pool);
  write_time(json, "asked_at", row.wish->asked_at);
  write_time(json, "expires_at", row.expires_at);
  json.end_object();
}

void write_new_node_token(http::JsonWriter& json, const NodeTokenFacts& facts) {
  json.begin_object();
  write_node_token_fields(json, facts.made.row);
  json.field("token", facts.made.token.reveal_for("show it once"));
  json.field("deployment", facts.deployment).field("ca_fingerprint", facts.ca_fingerprint).end_object();
}

void write_node(http::JsonWriter& json, const NodeRecord& record) {
  const auto& row = record.row;
  json.begin_object().field("id", row.id.text()).field("name", row.name).field("pool", row.pool);
  write_labels(json, row.labels);
  json.field("health", health_of(record)).field("draining", row.state == store::NodeState::draining);
  json.field("locked", record.facts.is_locked).field("ephemeral", row.is_ephemeral);
  json.field("version", row.last_seen.version).field("platform", platform_of(record));
  json.key("manifest").raw(row.last_seen.manifest_json.empty() ? "{}" : row.last_seen.manifest_json);
  if (record.attachment) {
    write_load(json, record.attachment->load);
  } else {
    json.key("load").null();
  }
  write_text_or_null(json, "session_id",
                     record.attachment ? record.attachment->session.text() : std::string());
  write_time(json, "attached_at", record.attachment ? std::optional(record.attachment->since) : std::nullopt);
  const bool was_seen = record.last_seen_at != WallTime();
  write_time(json, "last_seen_at", was_seen ? std::optional(record.last_seen_at) : std::nullopt);
  write_time(json, "enrolled_at", row.enrolled_at);
  write_certificate(json, row);
  json.end_object();
}

}  // namespace outhaul::hub
