#include "sandbox/launcher_starter.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "launcher/descriptor.h"

extern char** environ;

namespace outhaul::sandbox {
namespace {

using launcher::Descriptor;

constexpr int backlog = 4;
constexpr int buffer_bytes = 512 * 1024;
constexpr int listener_in_launcher = 3;

std::unexpected<Error> system_failure(const char* what) {
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

// Socket addresses hold 107 characters and directories may be deeper, so it is named through a descriptor.
sockaddr_un address_in(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = fmt::format("/proc/self/fd/{}/{}", directory, LauncherStarter::socket_name);
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

Descriptor open_directory(const std::filesystem::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Descriptor make_socket(int more_flags) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more_flags, 0));
  setsockopt(socket.number(), SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  return socket;
}

std::string read_tag(const std::filesystem::path& directory) {
  struct stat facts{};
  if (::stat(directory.c_str(), &facts) != 0) return "none";
  return fmt::format("{:x}-{:x}", facts.st_dev, facts.st_ino);
}

// What posix_spawn is told, released with it.
class SpawnOrders {
 public:
  SpawnOrders() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnOrders(const SpawnOrders&) = delete;
  SpawnOrders& operator=(const SpawnOrders&) = delete;
  ~SpawnOrders() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

}  // namespace

LauncherStarter::LauncherStarter(LauncherSettings settings)
    : settings_(std::move(settings)), tag_(read_tag(settings_.directory)) {}

Result<int> LauncherStarter::connect() {
  reap();
  const Descriptor directory = open_directory(settings_.directory);
  if (!directory.is_open()) return system_failure("open the launcher's directory");
  Descriptor socket = make_socket(SOCK_NONBLOCK);
  if (!socket.is_open()) return system_failure("make a socket for the launcher");
  const sockaddr_un address = address_in(directory.number());
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return socket.release();
  }
  if (errno == ECONNREFUSED || errno == ENOENT) return fail(ErrorCode::not_found, "no launcher lives");
  return system_failure("connect to the launcher");
}

Result<int> LauncherStarter::start() {
  OUTHAUL_TRY(listener, listen());
  const Descriptor owned(listener);
  OUTHAUL_CHECK(spawn(listener));
  // The connection waits in the listener's queue until the new program takes it: nothing to poll for.
  return connect();
}

Result<int> LauncherStarter::listen() {
  const Descriptor directory = open_directory(settings_.directory);
  if (!directory.is_open()) return system_failure("open the launcher's directory");
  Descriptor socket = make_socket(0);
  if (!socket.is_open()) return system_failure("make a socket for the launcher");
  const sockaddr_un address = address_in(directory.number());
  unlinkat(directory.number(), std::string(socket_name).c_str(), 0);
  fchmod(socket.number(), 0600);  // before bind(): the file is made with the socket's own mode
  if (bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.number(), backlog) != 0) {
    return system_failure("listen for the launcher");
  }
  return socket.release();
}

Result<void> LauncherStarter::spawn(int listener) {
  const auto log_path = settings_.directory / "launcher.log";
  const Descriptor log(::open(log_path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  std::string program = settings_.program.string();
  std::string tag_flag = "--tag";
  std::string no_cgroup = "--no-cgroup";
  char* arguments[] = {program.data(), tag_flag.data(), tag_.data(),
                       settings_.use_cgroups ? nullptr : no_cgroup.data(), nullptr};
  SpawnOrders orders;
  if (log.is_open()) posix_spawn_file_actions_adddup2(&orders.actions, log.number(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&orders.actions, listener, listener_in_launcher);
  // Its own session: it must outlive us and the terminal that we were started from.
  posix_spawnattr_setflags(&orders.attributes, POSIX_SPAWN_SETSID);
  pid_t process = 0;
  const int failure =
      posix_spawn(&process, program.c_str(), &orders.actions, &orders.attributes, arguments, environ);
  if (failure != 0) {
    return fail(ErrorCode::unavailable,
                fmt::format("start {}: {}", settings_.program.string(), std::strerror(failure)));
  }
  child_ = process;
  return {};
}

void LauncherStarter::reap() {
  if (child_ != 0 && waitpid(child_, nullptr, WNOHANG) != 0) child_ = 0;
}

}  // namespace outhaul::sandbox
