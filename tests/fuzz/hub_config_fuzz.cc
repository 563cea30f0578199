// Any text as hub.yaml: refused with one code, or a configuration within its limits.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "hub/hub_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto config = outhaul::hub::parse_hub_config(input, "hub.yaml");
  if (!config) {
    OUTHAUL_ASSERT(config.error().code() == outhaul::ErrorCode::config_invalid);
    return 0;
  }
  OUTHAUL_ASSERT(config->settings.dead_after >= 2 * config->settings.heartbeat_interval);
  return 0;
}
