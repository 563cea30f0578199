// Any bytes as a Hello and as a Welcome: the handshake never takes one that was not signed.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "testing/test_keys.h"
#include "wire/session.h"

using namespace outhaul::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static outhaul::testing::TestDeployment deployment;
  static const auto keys = deployment.make_node();
  const Now now{outhaul::TimePoint(), outhaul::testing::ManualClock::default_start};

  outhaul::v1::Hello hello;
  if (hello.ParseFromArray(data, static_cast<int>(size))) {
    HubSession hub({.protocol = spoken_protocol,
                    .times = {},
                    .deployment = deployment.name(),
                    .hub_spki = "spki",
                    .authorities = {deployment.certificate()}},
                   outhaul::Bytes(HubSession::nonce_bytes, 'n'), now);
    OUTHAUL_ASSERT(!hub.receive_hello(hello, "", now).has_value());
    hello.set_signing_certificate(keys.signing_certificate());
    OUTHAUL_ASSERT(!hub.receive_hello(hello, "", now).has_value());
  }
  outhaul::v1::Welcome welcome;
  if (welcome.ParseFromArray(data, static_cast<int>(size))) {
    const NodeSession node({}, keys, now);
    if (const auto facts = node.receive_welcome(welcome, now))
      OUTHAUL_ASSERT(spoken_protocol.contains(facts->protocol));
  }
  return 0;
}
