// Result<T> and Error: how every function reports a failure that its caller must expect.
// A broken promise inside our own code is not an Error: see OUTHAUL_ASSERT in base/assert.h.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_code.h"

namespace outhaul {

// One named fact about a failure, for people and for `details` in problem+json.
struct ErrorDetail {
  std::string name;
  std::string value;
  bool operator==(const ErrorDetail&) const = default;
};

class Error {
 public:
  Error(ErrorCode code, std::string what) : code_(code), what_(std::move(what)) {}

  ErrorCode code() const { return code_; }
  ErrorClass error_class() const { return class_of(code_); }
  // One line that starts in lower case. Holds no secret and no text copied from a peer.
  const std::string& what() const { return what_; }
  const std::vector<ErrorDetail>& details() const { return details_; }

  // Names the step that failed, from the outside in: "load lease: open journal: permission denied".
  Error during(std::string_view step) && {
    what_.insert(0, ": ").insert(0, step);
    return std::move(*this);
  }
  Error with(std::string name, std::string value) && {
    details_.push_back({std::move(name), std::move(value)});
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string what_;
  std::vector<ErrorDetail> details_;
};

// A class and not an alias: std::expected is not [[nodiscard]], so a dropped failure would be silent.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(ErrorCode code, std::string what) {
  return std::unexpected<Error>(std::in_place, code, std::move(what));
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }

}  // namespace outhaul

#define OUTHAUL_JOIN_(a, b) a##b
#define OUTHAUL_JOIN(a, b) OUTHAUL_JOIN_(a, b)
#define OUTHAUL_TRY_(ret, local, expr)                                 \
  auto local##_or = (expr);                                            \
  if (!local##_or) ret std::unexpected(std::move(local##_or).error()); \
  [[maybe_unused]] auto& local = *local##_or
#define OUTHAUL_CHECK_(ret, name, expr) \
  if (auto name = (expr); !name) ret std::unexpected(std::move(name).error())

// Unwraps a Result<T> into a new local `local`, or hands its Error to the caller.
#define OUTHAUL_TRY(local, expr) OUTHAUL_TRY_(return, local, expr)
// The same in a coroutine; `expr` may be a co_await.
#define OUTHAUL_CO_TRY(local, expr) OUTHAUL_TRY_(co_return, local, expr)
// For Result<void>: goes on when it holds, else hands the Error to the caller.
#define OUTHAUL_CHECK(expr) OUTHAUL_CHECK_(return, OUTHAUL_JOIN(checked_, __LINE__), expr)
#define OUTHAUL_CO_CHECK(expr) OUTHAUL_CHECK_(co_return, OUTHAUL_JOIN(checked_, __LINE__), expr)
