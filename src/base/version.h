// The version of this build: "0.1.0". Peers never compare it; they negotiate features (docs/protocol.md).
#pragma once

#include <string_view>

namespace outhaul {

std::string_view version();

}  // namespace outhaul
