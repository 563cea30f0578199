#include "hub/nodes/renewal.h"

#include "base/time_text.h"
#include "crypto/digest.h"
#include "crypto/statement.h"
#include "http/json_writer.h"
#include "hub/nodes/certificate_rules.h"

namespace outhaul::hub {

// One renewal on its way.
struct RenewalService::Candidate {
  crypto::NodeIdentity identity;
  transport::PeerCertificate shown;
  crypto::CertificateRequest request;
  WallTime now;
  WallTime issue_at;
  store::NodeCertificate next;
  WallTime issued_at;
};

RenewalService::RenewalService(const HubPorts& ports, const Needs& needs)
    : clock_(ports.clock), random_(ports.random), database_(ports.database), log_(ports.log), needs_(needs) {}

Task<Result<Bytes>> RenewalService::renew(RenewalRequest request) {
  auto examined = examine(request);
  if (!examined && examined.error().code() == ErrorCode::node_removed) {
    examined = fail(co_await why_gone(request));
  }
  if (!examined) {
    note_refused(request, examined.error());
    co_return fail(examined.error());
  }
  auto& candidate = *examined;
  OUTHAUL_CO_TRY(answer, issue(candidate));
  // A certificate of which no row knows is never handed out.
  OUTHAUL_CO_CHECK(co_await write_down(candidate));
  log_.info("certificate renewed", {{"node", candidate.identity.node.text()},
                                    {"serial", candidate.next.serial},
                                    {"expires_at", time_text(candidate.next.expires_at)}});
  note_renewed(candidate, request.address);
  co_return std::move(answer);
}

// Asked about by examine() already: the certificate names a node.
Task<Error> RenewalService::why_gone(const RenewalRequest& request) {
  const auto certificate = crypto::Certificate::parse_der(request.certificate_der);
  const auto identity = crypto::NodeIdentity::parse_uri(certificate->uri());
  co_return co_await NodeRegistry::why_gone(database_, identity->node);
}

Result<RenewalService::Candidate> RenewalService::examine(const RenewalRequest& request) const {
  OUTHAUL_TRY(certificate, crypto::Certificate::parse_der(request.certificate_der));
  OUTHAUL_TRY(identity, crypto::NodeIdentity::parse_uri(certificate.uri()));
  if (identity.deployment != needs_.settings.deployment ||
      !certificate.is_for(crypto::CertificateUse::tls_client)) {
    return fail(ErrorCode::certificate_invalid, "renewal: not the certificate of a node of this deployment");
  }
  const auto* record = needs_.registry.find(identity.node);
  if (record == nullptr) return fail(ErrorCode::node_removed, "this node was removed from the hub");
  OUTHAUL_TRY(csr, crypto::CertificateRequest::parse_pem(request.csr_pem));
  OUTHAUL_TRY(key, crypto::VerifyKey::parse(record->row.signing_key));
  if (!key.verify(crypto::renewal_statement(request.certificate_der, request.csr_pem), request.proof)) {
    return fail(ErrorCode::certificate_invalid,
                "proof: not a signature by the node's signing key over this request");
  }
  Candidate candidate{std::move(identity),
                      transport::describe_peer_certificate(certificate),
                      std::move(csr),
                      clock_.wall_now(),
                      {},
                      {},
                      {}};
  candidate.issue_at = issue_time(record->row, candidate.shown, candidate.now);
  OUTHAUL_CHECK(judge_renewal(record->row, candidate.shown, crypto::sha256_hex(candidate.request.spki()),
                              candidate.now));
  return candidate;
}

Result<Bytes> RenewalService::issue(Candidate& candidate) {
  const crypto::Validity validity{candidate.issue_at, certificate_lifetime(needs_.settings)};
  OUTHAUL_TRY(certificate,
              needs_.keys.authority.issue_node(candidate.request, candidate.identity, validity, random_));
  candidate.next = describe_certificate(certificate);
  candidate.issued_at = transport::describe_peer_certificate(certificate).issued_at;
  http::JsonWriter json;
  json.begin_object()
      .field("chain", certificate.pem() + needs_.keys.authority.certificate().pem())
      .end_object();
  return std::move(json).take_text();
}

// The row decides, not what the registry held before the database was asked: a removal may come between.
Task<Result<void>> RenewalService::write_down(const Candidate& candidate) {
  auto work = [id = candidate.identity.node, shown = candidate.shown, next = candidate.next,
               now = candidate.now,
               issued_at = candidate.issued_at](store::Transaction& tx) -> Result<store::NodeRotation> {
    OUTHAUL_TRY(row, tx.nodes.find(id));
    if (!row) return fail(ErrorCode::node_removed, "this node was removed from the hub");
    OUTHAUL_CHECK(judge_renewal(*row, shown, next.fingerprint, now));
    const auto rotation = rotation_after(*row, shown, issued_at);
    OUTHAUL_CHECK(tx.nodes.set_certificate(id, next));
    if (rotation != row->rotation) OUTHAUL_CHECK(tx.nodes.set_rotation(id, rotation));
    return rotation;
  };
  OUTHAUL_CO_TRY(rotation, co_await database_.transact(std::move(work)));
  if (auto* record = needs_.registry.find(candidate.identity.node)) {
    record->row.certificate = candidate.next;
    record->row.rotation = rotation;
  }
  co_return Result<void>();
}

void RenewalService::note_renewed(const Candidate& candidate, const std::string& address) {
  const auto node = candidate.identity.node.text();
  needs_.audit.note(audit::AuditEntry(audit::AuditAction::certificate_renewed, node, node)
                        .with("serial", candidate.next.serial)
                        .with("expires_at", time_text(candidate.next.expires_at))
                        .with("address", address));
}

// Whoever asked holds a certificate of this authority, else there would have been no connection.
void RenewalService::note_refused(const RenewalRequest& request, const Error& reason) {
  const auto certificate = crypto::Certificate::parse_der(request.certificate_der);
  const auto subject = certificate ? certificate->uri() : std::string();
  needs_.audit.note_refusal(audit::AuditEntry(audit::AuditAction::renewal_refused, subject, subject)
                                .with("address", request.address)
                                .refused_by(reason));
}

Task<Result<NodeId>> RenewalService::rotate(std::string id_or_name) {
  const auto* known = needs_.registry.find_by_text(id_or_name);
  if (known == nullptr) co_return fail(ErrorCode::not_found, "no such node");
  const auto id = known->row.id;
  auto work = [id, now = clock_.wall_now()](store::Transaction& tx) -> Result<store::NodeRotation> {
    OUTHAUL_TRY(row, tx.nodes.find(id));
    if (!row || row->state == store::NodeState::removed) return fail(ErrorCode::not_found, "no such node");
    const store::NodeRotation rotation{now, row->rotation.certificates_from};
    OUTHAUL_CHECK(tx.nodes.set_rotation(id, rotation));
    return rotation;
  };
  OUTHAUL_CO_TRY(rotation, co_await database_.transact(std::move(work)));
  auto* record = needs_.registry.find(id);
  if (record == nullptr) co_return fail(ErrorCode::not_found, "no such node");
  record->row.rotation = rotation;
  log_.info("rotation asked for", {{"node", id.text()}});
  if (auto* link = needs_.registry.link_of(id)) remind(*link);
  co_return id;
}

void RenewalService::remind(NodeLink& node) const {
  const auto* record = needs_.registry.find(node.node());
  if (record == nullptr || !record->row.rotation.is_pending()) return;
  v1::Control control;
  control.mutable_renew_certificate();
  // A full queue: the node hears it when it attaches next, and renews by itself in any case.
  static_cast<void>(node.send_control(control));
}

}  // namespace outhaul::hub
