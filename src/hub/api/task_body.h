// The body of POST /tasks.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "hub/tasks/task_order.h"

namespace outhaul::hub {

// As the limits of wire/task_spec.h allow, with room for JSON's escapes.
inline constexpr std::size_t max_task_body_bytes = std::size_t{1} << 20U;

// The order without its owner. Fails with `invalid`, naming every key that is wrong and never a value.
Result<TaskOrder> parse_task_order(ByteView json);

}  // namespace outhaul::hub
