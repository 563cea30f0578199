// What an enrolled node asks of its hub outside the tunnel, over HTTPS with its own certificate.
#pragma once

#include <string>

#include "base/async_clock.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"
#include "http/tls_context.h"
#include "http/uri.h"
#include "node/enrolment/identity.h"

namespace outhaul::node {

struct HubAddress {
  http::Url url;
  std::string deployment;
};

// Posts JSON and gives the body of the answer. `tls` outlives the call.
//   errors  those of http::Client::call; what the hub refused
Task<Result<Bytes>> ask_hub(AsyncClock& clock, http::TlsClientContext& tls, HubAddress hub,
                            std::string target, Bytes body);

// Takes the node out of the hub's registry. A hub that says that it is gone already is believed. All outlive
// the call.
//   errors  as ask_hub; deadline_exceeded: no answer within half a minute
Task<Result<void>> leave_hub(AsyncClock& clock, http::TlsClientContext& tls, const Identity& identity,
                             http::Url hub);

}  // namespace outhaul::node
