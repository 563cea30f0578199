// LauncherStarter: the descriptor of a connection to the launcher of a data directory; starts the program
// when none lives.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"

namespace outhaul::sandbox {

struct LauncherSettings {
  std::filesystem::path directory;  // of the socket, mode 0700; one launcher a directory
  std::filesystem::path program;    // outhaul-launcher
  bool use_cgroups = true;          // false: supervisors even where cgroups could be had
  int nice = 5;                     // of the programs: work must not starve the tunnel
  // Called on the strand when it falls silent (false) and when it answers again.
  std::function<void(bool answers)> on_answering = {};
};

class LauncherStarter {
 public:
  static constexpr std::string_view socket_name = "launcher.sock";

  explicit LauncherStarter(LauncherSettings settings);

  // A connected SOCK_SEQPACKET socket to a launcher that lives already; owned by the caller. Not blocking.
  //   errors  not_found: none lives. unavailable: anything else
  Result<int> connect();
  // Starts one, in a session of its own, and connects to it. Its errors go to launcher.log.
  //   errors  unavailable: the system's reason is in the message
  Result<int> start();
  // Names what belongs to this data directory's launchers: its device and inode.
  const std::string& tag() const { return tag_; }
  const LauncherSettings& settings() const { return settings_; }

 private:
  Result<int> listen();
  Result<void> spawn(int listener);
  // A launcher that this process started and that has ended is our child until it is asked for.
  void reap();

  LauncherSettings settings_;
  std::string tag_;
  int child_ = 0;
};

}  // namespace outhaul::sandbox
