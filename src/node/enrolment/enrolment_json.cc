#include "node/enrolment/enrolment_json.h"

#include "crypto/node_identity.h"
#include "http/json_reader.h"
#include "http/json_writer.h"
#include "http/uri.h"

namespace outhaul::node {
namespace {

constexpr std::int64_t identity_version = 1;
constexpr std::size_t max_hub_keys = 16;
constexpr std::size_t max_id_bytes = 64;

void read_hub_keys(http::JsonReader& reader, Enrolment& enrolment) {
  for (auto& each : reader.objects("hub_keys", max_hub_keys)) {
    const auto key_id = KeyId::parse(each.string("key_id", max_id_bytes));
    auto public_key = parse_base64(each.string("public_key", max_id_bytes));
    if (!key_id) each.refuse("key_id", "is no key id");
    if (!public_key || !crypto::VerifyKey::parse(*public_key)) each.refuse("public_key", "is no Ed25519 key");
    if (key_id && public_key) enrolment.hub_keys.push_back({*key_id, std::move(*public_key)});
  }
}

void read_names(http::JsonReader& reader, Enrolment& enrolment) {
  const auto node = NodeId::parse(reader.string("node_id", max_id_bytes));
  if (!node) reader.refuse("node_id", "is no node id");
  if (node) enrolment.node = *node;
  enrolment.name = reader.string("name", 64);
  enrolment.deployment = reader.string("deployment", 256);
  if (!crypto::is_dns_name(enrolment.deployment)) reader.refuse("deployment", "is no DNS name");
  read_hub_keys(reader, enrolment);
}

}  // namespace

Result<Enrolment> parse_enrolment_answer(ByteView json) {
  OUTHAUL_TRY(reader, http::JsonReader::parse(json));
  Enrolment enrolment;
  read_names(reader, enrolment);
  enrolment.chain_pem = reader.string("chain");
  enrolment.signing_certificate_pem = reader.string("signing_certificate");
  enrolment.ca_pem = reader.string("ca_bundle");
  OUTHAUL_CHECK(reader.finish(http::JsonReader::UnknownKeys::allowed));
  return enrolment;
}

Bytes format_identity(const Enrolment& enrolment) {
  http::JsonWriter json;
  json.begin_object().field("version", identity_version).field("node_id", enrolment.node.text());
  json.field("name", enrolment.name).field("deployment", enrolment.deployment).field("hub", enrolment.hub);
  json.key("hub_keys").begin_array();
  for (const auto& key : enrolment.hub_keys) {
    json.begin_object()
        .field("key_id", key.key_id.text())
        .field("public_key", to_base64(key.public_key))
        .end_object();
  }
  json.end_array().end_object();
  return std::move(json).take_text() + "\n";
}

Result<Enrolment> parse_identity(ByteView json) {
  auto reader = http::JsonReader::parse(json);
  if (!reader) return fail(ErrorCode::store_corrupt, "identity.json: " + reader.error().what());
  Enrolment enrolment;
  reader->integer("version", identity_version, identity_version);
  read_names(*reader, enrolment);
  enrolment.hub = reader->string("hub", 512);
  if (!http::parse_url(enrolment.hub)) reader->refuse("hub", "is no address");
  const auto finished = reader->finish();
  if (!finished) return fail(ErrorCode::store_corrupt, "identity.json: " + finished.error().what());
  return enrolment;
}

}  // namespace outhaul::node
