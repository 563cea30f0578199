#include "launcher/spawn_strings.h"

#include <string.h>

namespace outhaul::launcher {

bool StringTable::parse(const SpawnRequest& request) {
  const std::size_t bytes = request.header.bytes - sizeof request;
  if (request.string_bytes != bytes || request.limit_count > max_limits || request.argument_count == 0)
    return false;
  if (memchr(request.task_id, '\0', task_id_bytes) == nullptr || request.task_id[0] == '\0') return false;
  // The packet is ours alone; execve() takes its strings as char* and does not write them.
  char* at = const_cast<char*>(reinterpret_cast<const char*>(&request + 1));
  char* const end = at + bytes;
  std::size_t filled = 0;
  const auto take = [&]() -> char* {
    char* const text = at;
    char* const nul = static_cast<char*>(memchr(at, '\0', static_cast<std::size_t>(end - at)));
    if (nul != nullptr) at = nul + 1;
    return nul != nullptr ? text : nullptr;
  };
  const auto take_list = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      char* const text = take();
      if (text == nullptr) return false;
      pointers_[filled++] = text;
    }
    pointers_[filled++] = nullptr;
    return true;
  };
  directory_ = take();
  arguments_ = pointers_;
  if (directory_ == nullptr || !take_list(request.argument_count)) return false;
  environment_ = pointers_ + filled;
  return take_list(request.environment_count) && at == end;
}

}  // namespace outhaul::launcher
