// parse_enrolment_answer reads what a hub, or whoever stands in its place, answers; parse_identity its trace.
#include <cstddef>
#include <cstdint>

#include "node/enrolment/enrolment_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView text(reinterpret_cast<const char*>(data), size);
  const auto answer = outhaul::node::parse_enrolment_answer(text);
  const auto identity = outhaul::node::parse_identity(text);
  if (identity) static_cast<void>(outhaul::node::format_identity(*identity).size());
  static_cast<void>(answer.has_value());
  return 0;
}
