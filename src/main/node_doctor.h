// `outhaul-node doctor`: what stands between this data directory and running tasks. Reads only, also beside a
// running node.
#pragma once

#include <string>

namespace outhaul {

struct DoctorOptions {
  std::string data;
  std::string config_file;  // as `run --config`
  std::string hub;          // as `run --hub`
  bool json = false;
};

// Prints the report. Gives the program's exit code: 1 when a check failed; a warning is no failure.
int examine_node(const DoctorOptions& options);

}  // namespace outhaul
