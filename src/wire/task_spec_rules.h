// The limits of a task that hold whatever form it came in: read from signed bytes or filled in by the hub.
#pragma once

#include <optional>
#include <string>

#include "wire/task_spec.h"

namespace outhaul::wire {

// The first fault, as "<field> <rule>"; never repeats a value. Empty when the spec is in order.
std::optional<std::string> find_fault(const TaskSpec& spec);

}  // namespace outhaul::wire
