// Any bytes as the protobuf messages of a peer, and as what errors they stand for.
#include "wire/message.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "wire/session.h"
#include "wire/target.h"

using namespace outhaul::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  if (const auto control = parse_control(input)) {
    if (control->has_goodbye()) OUTHAUL_ASSERT(error_of(control->goodbye()).what().size() <= 200);
    if (control->has_challenge()) (void)negotiate(spoken_protocol, control->challenge().protocol());
    if (control->has_heartbeat()) (void)Heartbeats(SessionTimes(), {}).receive(control->heartbeat(), {});
  }
  if (const auto open = parse_open(input)) {
    if (const auto target = ChannelTarget::parse(open->plane(), open->target())) {
      OUTHAUL_ASSERT(target->target().text() == open->target());
    }
  }
  (void)parse_accept(input);
  if (const auto refuse = parse_refuse(input)) {
    // A refusal that is handed on must reach the next reader.
    OUTHAUL_ASSERT(parse_refuse(refuse_of(error_of(*refuse)).SerializeAsString()).has_value());
  }
  return 0;
}
