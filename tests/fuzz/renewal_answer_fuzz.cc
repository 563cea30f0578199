// parse_renewal_answer reads what a hub, or whoever stands in its place, answers to a node that renews.
#include <cstddef>
#include <cstdint>

#include "node/enrolment/https_renewal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto key = outhaul::crypto::TlsKey::generate().value();
  auto again = outhaul::crypto::TlsKey::parse_pem(key.pem()).value();
  const outhaul::ByteView text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(outhaul::node::parse_renewal_answer(text, std::move(again), {}).has_value());
  return 0;
}
