// parse_node_config reads a file that people write by hand.
#include <cstddef>
#include <cstdint>

#include "node/node_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed =
      outhaul::node::parse_node_config({reinterpret_cast<const char*>(data), size}, "node.yaml");
  static_cast<void>(parsed.has_value());
  return 0;
}
