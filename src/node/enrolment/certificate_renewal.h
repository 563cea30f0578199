// CertificateRenewal: the port by which a node changes its TLS key and certificate. Adapters: main (files and
// HTTPS), the simulation.
#pragma once

#include "base/error.h"
#include "base/task.h"
#include "node/enrolment/renewal_schedule.h"

namespace outhaul::node {

class CertificateRenewal {
 public:
  virtual ~CertificateRenewal() = default;
  // Of the certificate that the next dial shows.
  virtual CertificateLife life() const = 0;
  // One whole attempt, within its own limit of time: draws a key, or takes the one of an attempt that was cut
  // off, asks the hub, writes down what it gave, and shows it from the next dial on. What is connected stays
  // as it is. After a failure or a crash at any point the identity still works.
  //   errors  unavailable, deadline_exceeded: later. node_removed, certificate_invalid: the hub will not,
  //           or its answer does not fit. disk_full
  virtual Task<Result<CertificateLife>> renew() = 0;
};

}  // namespace outhaul::node
