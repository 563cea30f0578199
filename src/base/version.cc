#include "base/version.h"

namespace outhaul {

// OUTHAUL_VERSION is the CMake project's version, defined for this file alone.
std::string_view version() { return OUTHAUL_VERSION; }

}  // namespace outhaul
