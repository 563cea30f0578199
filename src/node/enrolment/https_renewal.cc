#include "node/enrolment/https_renewal.h"

#include "base/within.h"
#include "crypto/certificate_authority.h"
#include "crypto/certificate_request.h"
#include "crypto/node_identity.h"
#include "http/json_reader.h"
#include "http/json_writer.h"
#include "node/enrolment/hub_request.h"

namespace outhaul::node {
namespace {

constexpr auto attempt_limit = std::chrono::seconds(60);

CertificateLife life_of(const crypto::Certificate& certificate) {
  return {certificate.not_before() + crypto::certificate_backdate, certificate.not_after()};
}

}  // namespace

Result<TlsPair> parse_renewal_answer(ByteView json, crypto::TlsKey key, const Enrolment& enrolment) {
  OUTHAUL_TRY(reader, http::JsonReader::parse(json));
  auto chain = reader.string("chain");
  OUTHAUL_CHECK(reader.finish(http::JsonReader::UnknownKeys::allowed));
  OUTHAUL_TRY(pair, make_tls_pair(std::move(key), std::move(chain)));
  const crypto::NodeIdentity self{enrolment.deployment, enrolment.node};
  if (pair.certificate.uri() != self.uri()) {
    return fail(ErrorCode::certificate_invalid, "the renewed certificate names another node");
  }
  OUTHAUL_TRY(authorities, crypto::Certificate::parse_pem_bundle(enrolment.ca_pem));
  // At a time of its own, for this machine's clock may be wrong.
  OUTHAUL_CHECK(crypto::verify_certificate(pair.certificate, authorities, crypto::CertificateUse::tls_client,
                                           life_of(pair.certificate).issued_at));
  return std::move(pair);
}

CertificateLife HttpsRenewal::life() const { return life_of(ports_.identity.certificate()); }

Task<Result<CertificateLife>> HttpsRenewal::renew() {
  auto& identity = ports_.identity;
  OUTHAUL_CO_TRY(key, prepare_next_key(ports_.directory, identity.certificate().spki()));
  OUTHAUL_CO_TRY(request_pem, crypto::make_certificate_request(key, identity.enrolment().name));
  auto answer =
      co_await within(ports_.clock, ports_.clock.now() + attempt_limit, ask(std::move(request_pem)));
  if (!answer) co_return fail(ErrorCode::deadline_exceeded, "the hub did not answer in time");
  if (!*answer) co_return fail(std::move(*answer).error());
  OUTHAUL_CO_TRY(pair, parse_renewal_answer(**answer, std::move(key), identity.enrolment()));
  // On disk before it is shown: a node that dies in between comes back with what the hub knows.
  OUTHAUL_CO_CHECK(save_renewed_pair(ports_.directory, pair));
  const http::TlsIdentity shown{pair.chain_pem, pair.key.pem()};
  OUTHAUL_CO_CHECK(ports_.tls.set_identity(shown));
  identity.use(std::move(pair));
  co_return life();
}

Task<Result<Bytes>> HttpsRenewal::ask(std::string request_pem) {
  const auto& identity = ports_.identity;
  http::JsonWriter json;
  json.begin_object().field("csr", request_pem);
  json.field("proof", to_base64(identity.sign_renewal(request_pem))).end_object();
  const HubAddress hub{hub_, identity.enrolment().deployment};
  co_return co_await ask_hub(ports_.clock, ports_.tls, hub, "/api/v1/renew", std::move(json).take_text());
}

}  // namespace outhaul::node
