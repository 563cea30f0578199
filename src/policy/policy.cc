#include "policy/policy.h"

#include <algorithm>

namespace outhaul::policy {

std::string_view name_of(Mode mode) { return mode == Mode::strict ? "STRICT" : "PERMISSIVE"; }

std::string_view name_of(Ask ask) {
  switch (ask) {
    case Ask::never: return "never";
    case Ask::once: return "once";
    case Ask::always: return "always";
  }
  return "always";
}

bool Policy::restricts_programs() const {
  return mode == Mode::strict || !deny.empty() || !executables.empty() || ask != Ask::never;
}

Result<void> check_enforceable(const Policy& policy, const std::vector<wire::IsolationLevel>& levels) {
  const bool has_trusted = std::ranges::count(levels, wire::IsolationLevel::trusted) > 0;
  if (policy.mode != Mode::strict || !has_trusted) return {};
  return fail(
      Error(ErrorCode::config_invalid,
            "a STRICT policy cannot hold at isolation `trusted`: a listed program may start any other, and "
            "nothing in the kernel holds it back")
          .with("remedy", "write `mode: PERMISSIVE`, or remove `trusted` from `isolation` in node.yaml"));
}

}  // namespace outhaul::policy
