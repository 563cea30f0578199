#include "main/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace outhaul {

void notify_service_manager(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || (*path != '/' && *path != '@')) return;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  // '@' stands for the NUL that begins an abstract name.
  if (*path == '@') address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  static_cast<void>(::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<sockaddr*>(&address), size));
  ::close(socket);
}

Task<void> feed_watchdog(AsyncClock& clock) {
  const char* asked = std::getenv("WATCHDOG_USEC");
  const char* process = std::getenv("WATCHDOG_PID");
  if (process != nullptr && process != std::to_string(::getpid())) co_return;
  const auto interval = std::chrono::microseconds(asked == nullptr ? 0 : std::strtoll(asked, nullptr, 10));
  if (interval.count() <= 0) co_return;
  for (;;) {
    notify_service_manager("WATCHDOG=1");
    co_await clock.sleep_for(Duration(interval) / 2);
  }
}

}  // namespace outhaul
