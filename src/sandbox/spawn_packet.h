// encode_spawn: a ProcessSpec as the packet that the launcher reads.
#pragma once

#include "base/bytes.h"
#include "sandbox/process_launcher.h"

namespace outhaul::sandbox {

struct SpawnPlace {
  std::uint32_t slot = 0;
  int nice = 0;
  std::string marker;  // NAME=value added to the environment; empty: none
};

struct SpawnPacket {
  Bytes bytes;
  std::vector<SharedDescriptor> files;  // that travel with it
};

// errors  invalid: no argument, a relative directory, a NUL inside a string, too many held arguments.
//         too_large: over max_spec_bytes
Result<SpawnPacket> encode_spawn(const ProcessSpec& spec, const SpawnPlace& place);

}  // namespace outhaul::sandbox
