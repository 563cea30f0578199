// Any bytes as the body of POST /tasks: refused with one code and without repeating them, or an order.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "hub/api/task_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  const auto order = outhaul::hub::parse_task_order(input);
  if (!order) {
    OUTHAUL_ASSERT(order.error().code() == outhaul::ErrorCode::invalid);
    return 0;
  }
  // What a selector says must survive its row.
  const auto row = outhaul::hub::selector_json(order->selector);
  const auto again = outhaul::hub::parse_selector_row(row);
  OUTHAUL_ASSERT(again.has_value() && *again == order->selector);
  return 0;
}
