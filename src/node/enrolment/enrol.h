// enrol: makes this data directory a node of a hub, by a one-time token and the fingerprint of its CA.
#pragma once

#include <functional>
#include <string>

#include "base/async_clock.h"
#include "base/random.h"
#include "base/secret.h"
#include "crypto/data_directory.h"
#include "crypto/fingerprint.h"
#include "http/uri.h"
#include "node/enrolment/identity.h"

namespace outhaul::node {

struct EnrolmentOrder {
  http::Url hub;
  crypto::Fingerprint ca_fingerprint;  // the only trust of this first contact
  Secret token;
  std::string name;  // of the node; unique in the deployment
  // Told once when the hub's operator has to approve: the fingerprint of this machine's key, to be compared.
  std::function<void(const std::string& fingerprint)> on_waiting = {};
  bool is_ephemeral = false;  // it will leave by itself, and the hub need not keep it while it is away
};

// Where the token needs approval it asks again every few seconds, also while the hub is away, until an
// operator has decided or the token has ended. May be repeated after any failure but identity_exists; the
// same keys are shown again.
//   errors  identity_exists; enrolment_token_invalid; ca_fingerprint_mismatch; name_taken; unavailable;
//   denied: by the operator
Task<Result<Enrolment>> enrol(const crypto::DataDirectory& directory, EnrolmentOrder order, AsyncClock& clock,
                              Random& random);

}  // namespace outhaul::node
