// Verdict: the first broken invariant of a seed. After it nothing counts any more.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace outhaul::sim {

class Verdict {
 public:
  struct Violation {
    std::string invariant;
    std::string detail;
  };

  void fail(std::string_view invariant, std::string detail) {
    if (!violation_) violation_ = Violation{std::string(invariant), std::move(detail)};
  }
  const std::optional<Violation>& violation() const { return violation_; }

 private:
  std::optional<Violation> violation_;
};

}  // namespace outhaul::sim
