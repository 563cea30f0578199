// The stable codes of every failure that Outhaul reports, and the one decision each leaves its caller.
// docs/errors.md is generated from error_code_list.h; a code is added there and never renamed.
#pragma once

#include <optional>
#include <string_view>

namespace outhaul {

// What the caller can do about it.
enum class ErrorClass {
  retry,      // the same request may succeed later
  reread,     // somebody else changed it: read again, decide again
  stop,       // nothing the caller sends will help; an operator must look
  fix_input,  // the request itself is wrong
};

enum class ErrorCode {
#define OUTHAUL_ERROR(name, error_class, http_status, meaning, remedy) name,
#include "base/error_code_list.h"
#undef OUTHAUL_ERROR
};

// Everything docs and edges say about a code.
struct ErrorCodeInfo {
  ErrorCode code;
  std::string_view name;  // the stable word: "task_replayed"
  ErrorClass error_class;
  int http_status;
  std::string_view meaning;
  std::string_view remedy;
};

const ErrorCodeInfo& info_of(ErrorCode code);
inline std::string_view name_of(ErrorCode code) { return info_of(code).name; }
inline ErrorClass class_of(ErrorCode code) { return info_of(code).error_class; }
std::string_view name_of(ErrorClass error_class);
// The code with this stable word; empty for a word this version does not know.
std::optional<ErrorCode> find_error_code(std::string_view name);

}  // namespace outhaul
