// The reader of shell lines meets whatever a hub signed. It may say that it cannot read a line; it never
// fails to say.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/shell_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> argv = {"/bin/sh", "-c", {reinterpret_cast<const char*>(data), size}};
  const auto calls = outhaul::policy::read_command(argv);
  static_cast<void>(calls.has_value());
  return 0;
}
