#include "hub/nodes/certificate_rules.h"

#include <algorithm>

#include "crypto/certificate_authority.h"
#include "crypto/digest.h"

namespace outhaul::hub {
namespace {

// Certificates name whole seconds.
constexpr std::chrono::seconds certificate_tick{1};

// The newest certificate is good whatever its dates say: the hub's own clock may have been set back.
bool is_revoked(const store::NodeRow& row, const transport::PeerCertificate& shown) {
  return shown.issued_at < row.rotation.certificates_from && shown.key != row.certificate.fingerprint;
}

std::unexpected<Error> refused(const char* reason, const char* what) {
  return fail(Error(ErrorCode::certificate_invalid, what).with("reason", reason));
}

std::unexpected<Error> revoked() {
  return refused("revoked", "certificate revoked: it was replaced by a rotation");
}

}  // namespace

store::NodeCertificate describe_certificate(const crypto::Certificate& certificate) {
  return {crypto::sha256_hex(certificate.spki()), certificate.serial(), certificate.not_after()};
}

Result<void> judge_attachment(const store::NodeRow& row, const transport::PeerCertificate& shown,
                              WallTime now) {
  if (is_revoked(row, shown)) return revoked();
  if (now > shown.expires_at) {
    return refused("expired", "certificate expired: it is only good for a renewal");
  }
  return {};
}

Result<void> judge_renewal(const store::NodeRow& row, const transport::PeerCertificate& shown,
                           const std::string& next_key, WallTime now) {
  if (row.state == store::NodeState::removed) {
    return fail(ErrorCode::node_removed, "this node was removed from the hub");
  }
  // Whoever asks for the key that is certified already lost the answer to an earlier renewal.
  if (is_revoked(row, shown) && next_key != row.certificate.fingerprint) return revoked();
  if (now > shown.expires_at + renewal_grace) {
    return refused("expired", "certificate expired more than 30 days ago: the node must enrol again");
  }
  return {};
}

WallTime issue_time(const store::NodeRow& row, const transport::PeerCertificate& shown, WallTime now) {
  const auto after_shown = shown.issued_at + certificate_tick;
  const bool is_slow = row.rotation.is_pending() && after_shown > now;
  return is_slow && after_shown - now < crypto::certificate_backdate ? after_shown : now;
}

store::NodeRotation rotation_after(const store::NodeRow& row, const transport::PeerCertificate& shown,
                                   WallTime issued_at) {
  if (!row.rotation.is_pending()) return row.rotation;
  return {{}, std::max(issued_at, shown.issued_at + certificate_tick)};
}

}  // namespace outhaul::hub
