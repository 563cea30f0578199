// Any bytes as a person's order, its envelope and a public key. What is read obeys the rules of a task and
// reads the same when it is written again; nothing passes that nobody has signed.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "crypto/user_key.h"
#include "wire/user_order.h"

using namespace outhaul::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  if (const auto order = parse_user_order(input)) {
    OUTHAUL_ASSERT(check_task_spec(order->task).has_value());
    OUTHAUL_ASSERT(parse_user_order(serialise_user_order(*order)).value() == *order);
  }
  OUTHAUL_ASSERT(!open_user_order(input, {}).has_value());
  if (const auto key = outhaul::crypto::parse_user_key(input)) {
    OUTHAUL_ASSERT(outhaul::crypto::user_key_text(*key) == input);
  }
  return 0;
}
