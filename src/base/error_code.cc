#include "base/error_code.h"

#include <array>

namespace outhaul {
namespace {

constexpr std::array codes = {
#define OUTHAUL_ERROR(name, error_class, http_status, meaning, remedy) \
  ErrorCodeInfo{ErrorCode::name, #name, ErrorClass::error_class, http_status, meaning, remedy},
#include "base/error_code_list.h"
#undef OUTHAUL_ERROR
};

}  // namespace

const ErrorCodeInfo& info_of(ErrorCode code) { return codes[static_cast<std::size_t>(code)]; }

std::string_view name_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::retry: return "retry";
    case ErrorClass::reread: return "reread";
    case ErrorClass::stop: return "stop";
    case ErrorClass::fix_input: return "fix_input";
  }
  return "stop";
}

std::optional<ErrorCode> find_error_code(std::string_view name) {
  for (const auto& info : codes) {
    if (info.name == name) return info.code;
  }
  return std::nullopt;
}

}  // namespace outhaul
