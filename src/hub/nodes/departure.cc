#include "hub/nodes/departure.h"

#include "crypto/node_identity.h"
#include "crypto/statement.h"
#include "hub/nodes/certificate_rules.h"

namespace outhaul::hub {

Task<Result<void>> DepartureService::leave(DepartureRequest request) {
  auto examined = examine(request);
  if (!examined) {
    const auto certificate = crypto::Certificate::parse_der(request.certificate_der);
    const auto subject = certificate ? certificate->uri() : std::string();
    if (examined.error().code() == ErrorCode::node_removed) {
      const auto identity = crypto::NodeIdentity::parse_uri(subject);
      examined = fail(co_await NodeRegistry::why_gone(database_, identity->node));
    }
    needs_.audit.note_refusal(audit::AuditEntry(audit::AuditAction::node_left, subject, subject)
                                  .with("address", request.address)
                                  .refused_by(examined.error()));
    co_return fail(examined.error());
  }
  const auto& row = (*examined)->row;
  const auto id = row.id.text();
  audit::AuditEntry entry(audit::AuditAction::node_left, id, id);
  entry = std::move(entry).with("name", row.name).with("address", request.address);
  OUTHAUL_CO_CHECK(co_await needs_.nodes.remove(id, "its node left the hub before it ended"));
  co_return co_await needs_.audit.write(std::move(entry));
}

Result<const NodeRecord*> DepartureService::examine(const DepartureRequest& request) const {
  OUTHAUL_TRY(certificate, crypto::Certificate::parse_der(request.certificate_der));
  OUTHAUL_TRY(identity, crypto::NodeIdentity::parse_uri(certificate.uri()));
  if (identity.deployment != needs_.settings.deployment ||
      !certificate.is_for(crypto::CertificateUse::tls_client)) {
    return fail(ErrorCode::certificate_invalid, "leave: not the certificate of a node of this deployment");
  }
  const auto* record = needs_.registry.find(identity.node);
  if (record == nullptr) return fail(ErrorCode::node_removed, "this node was removed from the hub");
  OUTHAUL_TRY(key, crypto::VerifyKey::parse(record->row.signing_key));
  if (!key.verify(crypto::leave_statement(request.certificate_der), request.proof)) {
    return fail(ErrorCode::certificate_invalid, "proof: not a signature by the node's signing key");
  }
  OUTHAUL_CHECK(
      judge_attachment(record->row, transport::describe_peer_certificate(certificate), clock_.wall_now()));
  return record;
}

}  // namespace outhaul::hub
