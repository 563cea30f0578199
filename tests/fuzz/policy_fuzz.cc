// parse_policy reads a file that people write by hand; its patterns are matched against what a hub sent.
#include <cstddef>
#include <cstdint>

#include "policy/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = outhaul::policy::parse_policy(text, "policy.yaml");
  static_cast<void>(parsed.has_value());
  const auto pattern = outhaul::policy::TextPattern::parse(text.substr(0, size / 2));
  if (pattern) static_cast<void>(pattern->matches(text.substr(size / 2)));
  return 0;
}
