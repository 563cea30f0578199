// What a node's TLS certificate is still good for. Pure: the hub's row of the node, what was shown, the time.
// That the certificate is of this deployment's authority and names the node was checked before.
//   source  docs/protocol.md, "Identity"
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "crypto/certificate.h"
#include "store/node_store.h"
#include "transport/carrier.h"

namespace outhaul::hub {

// For so long after its end a certificate may still be exchanged for a new one: a machine that slept.
inline constexpr std::chrono::hours renewal_grace{24 * 30};

// As a row holds it.
store::NodeCertificate describe_certificate(const crypto::Certificate& certificate);

// Both fail with certificate_invalid, with detail "reason": revoked or expired.

// Whether a node may have a session.
Result<void> judge_attachment(const store::NodeRow& row, const transport::PeerCertificate& shown,
                              WallTime now);

// Whether it may be given a certificate for the key `next_key` (hex SHA-256 of its SPKI).
// Expired is here: for longer than the grace. node_removed
Result<void> judge_renewal(const store::NodeRow& row, const transport::PeerCertificate& shown,
                           const std::string& next_key, WallTime now);

// When the certificate that follows `shown` is said to be issued: later than everything that a rotation makes
// worthless, also where the hub's clock was set back by less than certificates are backdated.
WallTime issue_time(const store::NodeRow& row, const transport::PeerCertificate& shown, WallTime now);

// After the exchange of `shown` for a certificate issued at `issued_at`: a rotation that was asked for is
// done, and everything older is worthless.
store::NodeRotation rotation_after(const store::NodeRow& row, const transport::PeerCertificate& shown,
                                   WallTime issued_at);

}  // namespace outhaul::hub
