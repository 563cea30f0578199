// HeldFiles: the descriptors that come with a spawn: what runs as the node held it, whatever its path names
// by now.
#pragma once

#include "launcher/descriptor.h"
#include "launcher/protocol.h"

namespace outhaul::launcher {

struct HeldFiles {
  Descriptor list[max_files];
  std::uint32_t count = 0;
};

// Whether they are what the request says.
inline bool has_files(const SpawnRequest& request, const HeldFiles& files) {
  const std::uint32_t needed = ((request.flags & spawn_executes_file) != 0 ? 1U : 0U) +
                               ((request.flags & spawn_in_held_directory) != 0 ? 1U : 0U);
  if (request.file_count != files.count || files.count < needed) return false;
  for (std::uint32_t i = 0; i < files.count; ++i) {
    if (!files.list[i].is_open()) return false;
  }
  return true;
}

}  // namespace outhaul::launcher
