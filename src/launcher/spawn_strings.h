// StringTable: the strings behind a SpawnRequest as the pointer arrays that execve() wants.
#pragma once

#include <cstddef>

#include "launcher/managed_task.h"
#include "launcher/protocol.h"

namespace outhaul::launcher {

class StringTable {
 public:
  // Points into `request` (whose packet is header.bytes long), which must outlive the use. False when the
  // counts and the bytes do not fit together; nothing outside the packet is ever read.
  bool parse(const SpawnRequest& request);
  SpawnStrings strings() const { return {directory_, arguments_, environment_}; }

 private:
  // Every string has at least its NUL, so a packet holds no more strings than bytes.
  static constexpr std::size_t max_pointers = max_packet_bytes + 2;
  const char* directory_ = nullptr;
  char** arguments_ = nullptr;
  char** environment_ = nullptr;
  char* pointers_[max_pointers];
};

}  // namespace outhaul::launcher
