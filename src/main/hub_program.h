// What outhaul-hub does, one function a command. Each gives the process's exit status after saying on
// standard error what was wrong.
#pragma once

#include <string>

namespace outhaul {

struct HubOptions {
  std::string data;
  std::string deployment;   // init
  std::string listen;       // serve; empty: the configuration's, else the default
  std::string config_file;  // empty: the standard place, if there is a file
  std::string ready_file;   // serve; empty: none
  bool json = false;        // check, backup, restore
  std::string to;           // backup: the directory to make
  std::string from;         // restore: a backup
};

int init_hub(const HubOptions& options);
int serve_hub(const HubOptions& options);
// Reads all of it, changes nothing, names every fault and the offset of every cut. 0: all is well, also when
// the next start will cut a torn end.
int check_hub(const HubOptions& options);
// A copy of the data directory with a manifest, also while a hub serves it. `to` must not exist, or be empty.
int backup_hub(const HubOptions& options);
// `data` out of the backup `from`; it must not exist, or be empty.
int restore_hub(const HubOptions& options);

}  // namespace outhaul
