// What to do about an Error: what its maker added for this very case, else what its code says in general.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace outhaul {

inline constexpr std::string_view remedy_detail = "remedy";

inline std::string_view remedy_of(const Error& error) {
  for (const auto& detail : error.details()) {
    if (detail.name == remedy_detail) return detail.value;
  }
  return info_of(error.code()).remedy;
}

inline Error with_remedy(Error error, std::string remedy) {
  return std::move(error).with(std::string(remedy_detail), std::move(remedy));
}

}  // namespace outhaul
