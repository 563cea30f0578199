#include "main/node_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/version.h"
#include "wire/target.h"

namespace outhaul {
namespace {

std::string read_first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string architecture_of(const std::string& machine) {
  if (machine == "x86_64") return "amd64";
  return machine == "aarch64" ? "arm64" : machine;
}

double read_load_average() {
  double average = 0;
  return getloadavg(&average, 1) == 1 ? average : 0;
}

}  // namespace

node::NodeFacts read_node_facts() {
  utsname system{};
  uname(&system);
  node::NodeFacts facts;
  facts.version = version();
  facts.platform = "linux/" + architecture_of(system.machine);
  facts.kernel = system.release;
  facts.hostname = system.nodename;
  facts.boot_id = read_first_line("/proc/sys/kernel/random/boot_id");
  facts.more["cpus"] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  facts.load_average = read_load_average;
  return facts;
}

std::string default_node_name() {
  utsname system{};
  uname(&system);
  std::string name;
  for (const char c : std::string_view(system.nodename).substr(0, wire::Target::max_name_bytes)) {
    const bool is_upper = 'A' <= c && c <= 'Z';
    const bool is_kept = ('a' <= c && c <= 'z') || ('0' <= c && c <= '9');
    if (is_upper) {
      name.push_back(static_cast<char>(c - 'A' + 'a'));
    } else {
      name.push_back(is_kept ? c : '-');
    }
  }
  while (name.ends_with('-')) name.pop_back();
  const auto first_letter = name.find_first_of("abcdefghijklmnopqrstuvwxyz");
  return first_letter == name.npos ? "node" : name.substr(first_letter);
}

}  // namespace outhaul
