// OUTHAUL_FAULT("name"): a fault that somebody might make one day, planted where it would be made, so that
// the simulation can show that it would find it. Always false, and no code, in every build but the preset
// `faults`.
#pragma once

#ifdef OUTHAUL_PLANTED_FAULTS

#include <string_view>

namespace outhaul {

// The fault that is switched on in this process; empty: none. Only the simulation sets it.
inline std::string_view& planted_fault() {
  static std::string_view name;
  return name;
}

}  // namespace outhaul

#define OUTHAUL_FAULT(name) (::outhaul::planted_fault() == (name))

#else

#define OUTHAUL_FAULT(name) false

#endif
