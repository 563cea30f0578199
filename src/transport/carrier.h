// Carrier: ordered, reliable, whole messages between a hub and a node. Everything above it is the same on
// every carrier. Each carrier lives on one strand.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::crypto {
class Certificate;
}

namespace outhaul::transport {

// A client certificate of the hub's authority. Its dates were not judged: that is for whoever admits.
struct PeerCertificate {
  std::string key;     // hex SHA-256 of its SubjectPublicKeyInfo
  WallTime issued_at;  // by the authority's clock, in whole seconds
  WallTime expires_at;
};
PeerCertificate describe_peer_certificate(const crypto::Certificate& certificate);

// What the carrier knows about the other end.
struct CarrierPeer {
  // URI name of the client certificate that TLS found to be of the hub's authority; empty: none was shown.
  std::string tls_uri;
  // DER of the SubjectPublicKeyInfo of the hub's certificate: as observed by the node, as shown by the hub.
  Bytes hub_spki;
  std::string address;  // "192.0.2.7:51234", for logs and people
  // On the hub; empty when the carrier knows no certificates (tests).
  std::optional<PeerCertificate> certificate = std::nullopt;
};

class Carrier {
 public:
  virtual ~Carrier() = default;

  // The next message, 1..wire::max_message_bytes. At most one call at a time.
  //   errors  unavailable: the peer closed or the link broke; protocol_violation: not a legal message
  virtual Task<Result<Bytes>> receive() = 0;
  // Completes when the kernel has the message, not when the peer has read it. At most one call at a time;
  // beside it a receive() may wait.
  //   errors  unavailable. Cancellation leaves half a message: close() is then the only legal call.
  virtual Task<Result<void>> send(Bytes message) = 0;
  // Ends both directions; waiting calls fail with `unavailable`. May be called at any time, again too.
  virtual void close() = 0;
  virtual const CarrierPeer& peer() const = 0;
};

}  // namespace outhaul::transport
