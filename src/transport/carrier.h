// Carrier: ordered, reliable, whole messages between a hub and a node. Everything above it is the same on
// every carrier. Each carrier lives on one strand.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::transport {

// What the carrier knows about the other end.
struct CarrierPeer {
  std::string tls_uri;  // URI name of the client certificate that TLS verified; empty: none was shown
  // DER of the SubjectPublicKeyInfo of the hub's certificate: as observed by the node, as shown by the hub.
  Bytes hub_spki;
  std::string address;  // "192.0.2.7:51234", for logs and people
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
