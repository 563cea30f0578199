// enrol: makes this data directory a node of a hub, by a one-time token and the fingerprint of its CA.
#pragma once

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
  std::string name;           // of the node; unique in the deployment
  bool is_ephemeral = false;  // it will leave by itself, and the hub need not keep it while it is away
};

// May be repeated after any failure but identity_exists; the same keys are shown again.
//   errors  identity_exists; enrolment_token_invalid; ca_fingerprint_mismatch; name_taken; unavailable
Task<Result<Enrolment>> enrol(const crypto::DataDirectory& directory, EnrolmentOrder order, AsyncClock& clock,
                              Random& random);

}  // namespace outhaul::node
