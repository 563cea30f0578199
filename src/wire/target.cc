#include "wire/target.h"

#include <algorithm>
#include <array>

#include "base/ids.h"

namespace outhaul::wire {
namespace {

// Indexed by TargetKind, Plane and Side.
constexpr std::array<std::string_view, target_kind_count> kind_words = {
    "workspace", "group", "tool", "shell", "ssh", "sandbox", "web", "browser", "relay", "stream"};
constexpr std::array<std::string_view, plane_count> plane_words = {"task", "turn",    "tool",  "console",
                                                                   "web",  "browser", "relay", "stream"};
constexpr std::array<std::string_view, 2> side_words = {"hub", "node"};

constexpr std::uint32_t bit(TargetKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr std::uint32_t bit(Principal principal) { return 1U << static_cast<unsigned>(principal); }
constexpr std::uint32_t bit(Side side) { return 1U << static_cast<unsigned>(side); }

struct PlaneRow {
  std::uint32_t openers;
  std::uint32_t kinds;
  std::uint32_t principals;
};

// The one place that says which plane reaches what; docs/protocol.md, "Planes".
constexpr PlaneRow plane_row(Plane plane) {
  switch (plane) {
    case Plane::task:
      return {bit(Side::hub), bit(TargetKind::workspace),
              bit(Principal::person) | bit(Principal::ai_coding_conversation)};
    case Plane::turn: return {bit(Side::hub), bit(TargetKind::group), bit(Principal::person)};
    case Plane::tool:
      return {bit(Side::hub), bit(TargetKind::tool),
              bit(Principal::person) | bit(Principal::ai) | bit(Principal::ai_in_conversation) |
                  bit(Principal::ai_coding_conversation)};
    case Plane::console:
      return {bit(Side::hub), bit(TargetKind::shell) | bit(TargetKind::ssh) | bit(TargetKind::sandbox),
              bit(Principal::person)};
    case Plane::web: return {bit(Side::hub), bit(TargetKind::web), bit(Principal::person)};
    case Plane::browser:
      return {bit(Side::hub), bit(TargetKind::browser),
              bit(Principal::person) | bit(Principal::ai_in_conversation) |
                  bit(Principal::ai_coding_conversation)};
    case Plane::relay: return {bit(Side::node), bit(TargetKind::relay), bit(Principal::resident)};
    case Plane::stream:
      return {bit(Side::hub) | bit(Side::node), bit(TargetKind::stream), bit(Principal::tunnel_end)};
  }
  return {};
}

constexpr std::array<std::string_view, 3> relay_names = {"model", "mcp", "git"};

// <cctype> follows the locale; the wire format must not.
constexpr bool is_letter(char c) { return 'a' <= c && c <= 'z'; }
constexpr bool is_alnum(char c) { return is_letter(c) || ('0' <= c && c <= '9'); }
constexpr bool is_name_char(char c) { return is_alnum(c) || c == '-' || c == '_'; }

}  // namespace

std::string_view name_of(TargetKind kind) { return kind_words.at(static_cast<std::size_t>(kind)); }
std::string_view name_of(Plane plane) { return plane_words.at(static_cast<std::size_t>(plane)); }
std::string_view name_of(Side side) { return side_words.at(static_cast<std::size_t>(side)); }

Result<Target> Target::parse(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return fail(ErrorCode::invalid, "target: no kind before the name");
  const auto* const word = std::ranges::find(kind_words, text.substr(0, colon));
  if (word == kind_words.end()) return fail(ErrorCode::invalid, "target: unknown kind");
  return make(static_cast<TargetKind>(word - kind_words.begin()), text.substr(colon + 1));
}

Result<Target> Target::make(TargetKind kind, std::string_view name) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };

  if (name.empty() || name.size() > max_name_bytes) return invalid("target: name length");
  // The leading letter shuts out option flags (-oProxyCommand) and addresses spelt as a number
  // (2130706433, 0x7f000001). The alphabet shuts out the rest: it has no dot, colon, slash or @.
  if (!is_letter(name.front())) return invalid("target: name must start with a-z");
  if (!is_alnum(name.back())) return invalid("target: name must end with a-z or 0-9");
  if (!std::ranges::all_of(name, is_name_char)) return invalid("target: name alphabet");

  return Target(kind, name);
}

std::string Target::text() const {
  std::string text(name_of(kind_));
  text.push_back(':');
  text.append(name_);
  return text;
}

Result<Plane> parse_plane(std::string_view text) {
  const auto* const word = std::ranges::find(plane_words, text);
  if (word == plane_words.end()) return fail(ErrorCode::invalid, "plane: unknown word");
  return static_cast<Plane>(word - plane_words.begin());
}

bool may_open(Side opener, Plane plane) { return (plane_row(plane).openers & bit(opener)) != 0; }

bool may_use(Principal principal, Plane plane) { return (plane_row(plane).principals & bit(principal)) != 0; }

Result<ChannelTarget> ChannelTarget::make(Plane plane, Target target) {
  if ((plane_row(plane).kinds & bit(target.kind())) == 0) {
    return fail(ErrorCode::invalid, "target: this kind does not belong to the plane");
  }
  if (plane == Plane::relay && std::ranges::find(relay_names, target.name()) == relay_names.end()) {
    return fail(ErrorCode::invalid, "target: a relay is model, mcp or git");
  }
  if (plane == Plane::stream && !StreamId::parse(target.name())) {
    return fail(ErrorCode::invalid, "target: a stream is named by its id");
  }
  return ChannelTarget(plane, std::move(target));
}

Result<ChannelTarget> ChannelTarget::parse(std::string_view plane, std::string_view target) {
  OUTHAUL_TRY(parsed_plane, parse_plane(plane));
  OUTHAUL_TRY(parsed_target, Target::parse(target));
  return make(parsed_plane, std::move(parsed_target));
}

}  // namespace outhaul::wire
