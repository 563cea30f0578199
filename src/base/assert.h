// OUTHAUL_ASSERT: a promise inside our own code. It stays on in release: a process that broke its own
// invariant must not go on deciding what is durable.
#pragma once

namespace outhaul {

// Prints one line to standard error and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace outhaul

#define OUTHAUL_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::outhaul::assertion_failed(#condition, __FILE__, __LINE__))
