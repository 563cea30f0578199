// Any text as a target, a plane, a trace context: what passes is exactly what it says.
#include "wire/target.h"

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "wire/task_spec.h"
#include "wire/trace_context.h"
#include "wire/utf8.h"

using namespace outhaul::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto target = Target::parse(input)) {
    OUTHAUL_ASSERT(target->text() == input);
    OUTHAUL_ASSERT(input.find_first_of("./@ \\$;|&") == input.npos);
    for (std::size_t plane = 0; plane < plane_count; ++plane)
      (void)ChannelTarget::make(static_cast<Plane>(plane), *target);
  }
  if (const auto plane = parse_plane(input)) OUTHAUL_ASSERT(name_of(*plane) == input);
  if (const auto level = parse_isolation(input)) OUTHAUL_ASSERT(name_of(*level) == input);
  if (const auto trace = TraceContext::parse(input))
    OUTHAUL_ASSERT(TraceContext::parse(trace->text()).value() == *trace);
  const auto printable = printable_utf8(input, 200);
  OUTHAUL_ASSERT(is_utf8(printable) && printable.size() <= 200);
  return 0;
}
