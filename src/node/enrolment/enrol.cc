#include "node/enrolment/enrol.h"

#include "crypto/certificate_request.h"
#include "crypto/statement.h"
#include "crypto/token.h"
#include "http/client.h"
#include "http/json_writer.h"
#include "node/enrolment/enrolment_json.h"

namespace outhaul::node {
namespace {

constexpr std::size_t max_answer_bytes = 256 * 1024;

Bytes make_body(const EnrolmentOrder& order, const NodeKeys& keys, const std::string& request_pem) {
  const auto token = order.token.reveal_for("enrolment");
  const Bytes proof = keys.signing.sign(crypto::enrolment_statement(token, request_pem));
  http::JsonWriter json;
  json.begin_object().field("token", token).field("csr", request_pem);
  json.field("signing_key", to_base64(keys.signing.public_key()));
  json.field("proof", to_base64(proof)).field("name", order.name);
  // Only where it is asked for: a hub that does not know the word refuses it.
  if (order.is_ephemeral) json.field("ephemeral", true);
  json.end_object();
  return std::move(json).take_text();
}

// The chain must end in the CA whose fingerprint was given: the hub's answer alone may not replace it.
Result<void> check_authority(const Enrolment& enrolment, const crypto::Fingerprint& fingerprint) {
  OUTHAUL_TRY(authorities, crypto::Certificate::parse_pem_bundle(enrolment.ca_pem));
  for (const auto& authority : authorities) {
    if (crypto::Fingerprint::of_spki(authority.spki()) == fingerprint) return {};
  }
  return fail(ErrorCode::ca_fingerprint_mismatch,
              "the hub's CA bundle lacks the CA of the given fingerprint");
}

constexpr Duration ask_again_after = std::chrono::seconds(2);
constexpr int accepted_status = 202;

http::ClientRequest make_request(Bytes body) {
  http::ClientRequest request;
  request.method = http::Method::post;
  request.target = "/api/v1/enroll";
  request.headers.add("Content-Type", "application/json");
  request.body = std::move(body);
  return request;
}

// The answer once it is no "not yet". The fingerprint that is shown is of our own key, whatever the hub says.
Task<Result<Bytes>> ask(http::Client& client, AsyncClock& clock, Bytes body,
                        std::function<void()> on_waiting) {
  for (bool is_waiting = false;;) {
    const auto response = co_await client.call(make_request(body), max_answer_bytes);
    if (response && response->status != accepted_status) co_return response->body;
    const bool is_away = !response && response.error().error_class() == ErrorClass::retry;
    if (!response && !(is_waiting && is_away)) co_return outhaul::fail(response.error());
    if (!std::exchange(is_waiting, true)) on_waiting();
    co_await clock.sleep_for(ask_again_after);
  }
}

}  // namespace

Task<Result<Enrolment>> enrol(const crypto::DataDirectory& directory, EnrolmentOrder order, AsyncClock& clock,
                              Random& random) {
  OUTHAUL_CO_TRY(token, crypto::parse_enrolment_token(order.token.reveal_for("enrolment")));
  OUTHAUL_CO_TRY(keys, prepare_keys(directory, random));
  OUTHAUL_CO_TRY(request_pem, crypto::make_certificate_request(keys.tls, order.name));
  OUTHAUL_CO_TRY(tls, http::TlsClientContext::pinning(order.ca_fingerprint));
  http::Client::Settings settings;
  settings.url = order.hub;
  settings.server_name = "node." + token.deployment;
  http::Client client(clock, &tls, std::move(settings));
  auto on_waiting = [&order, fingerprint = crypto::Fingerprint::of_spki(keys.tls.spki()).text()] {
    if (order.on_waiting) order.on_waiting(fingerprint);
  };
  OUTHAUL_CO_TRY(answer,
                 co_await ask(client, clock, make_body(order, keys, request_pem), std::move(on_waiting)));
  OUTHAUL_CO_TRY(enrolment, parse_enrolment_answer(answer));
  OUTHAUL_CO_CHECK(check_authority(enrolment, order.ca_fingerprint));
  enrolment.hub = order.hub.text();
  OUTHAUL_CO_CHECK(save_identity(directory, keys, enrolment));
  co_return enrolment;
}

}  // namespace outhaul::node
