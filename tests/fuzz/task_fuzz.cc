// Any bytes as a task, its envelope, its result and its record. What is read obeys every limit and reads
// the same when it is written again; unsigned bytes never pass the gate.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "wire/task_gate.h"
#include "wire/task_result.h"
#include "wire/task_spec.h"

using namespace outhaul::wire;

namespace {

class AllowAll final : public TaskRules {
 public:
  outhaul::Result<void> check_owner(const TaskSpec&) const override { return {}; }
  outhaul::Result<void> check_policy(const TaskSpec&) const override { return {}; }
  outhaul::Result<void> check_consent(const TaskSpec&) const override { return {}; }
  outhaul::Result<void> check_capacity(const TaskSpec&) const override { return {}; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  if (const auto spec = parse_task_spec(input)) {
    OUTHAUL_ASSERT(check_task_spec(*spec).has_value());
    OUTHAUL_ASSERT(parse_task_spec(serialise_task_spec(*spec)).value() == *spec);
  }
  if (const auto envelope = parse_envelope(input)) {
    OUTHAUL_ASSERT(parse_envelope(serialise_envelope(*envelope)).value() == *envelope);
  }
  if (const auto result = parse_task_result(input)) {
    OUTHAUL_ASSERT(state_of(parse_task_result(serialise_task_result(*result)).value().end) ==
                   state_of(result->end));
  }
  if (const auto record = parse_gate_record(input)) {
    OUTHAUL_ASSERT(parse_gate_record(serialise_gate_record(*record)).value() == *record);
  }
  static const AllowAll rules;
  TaskGate gate({}, rules, [](const outhaul::TaskId&) { return std::nullopt; });
  OUTHAUL_ASSERT(!gate.judge(input, {}).admitted.has_value());
  return 0;
}
