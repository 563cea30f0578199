// Target: the only way anyone names something a node or a relay may reach, e.g. "ssh:sky141". It cannot
// spell an address, a port, a path or a command. Whoever owns the route looks the name up in a table of
// its own: never resolve a Target, dial it or hand it to a shell.
//
// Plane: what a channel is for. Which kinds of target a plane may name, who opens it and which principals
// stand behind it is one table (target.cc); a pair outside it cannot be constructed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace outhaul::wire {

enum class TargetKind : std::uint8_t {
  workspace,
  group,
  tool,
  shell,
  ssh,
  sandbox,
  web,
  browser,
  relay,
  stream
};
inline constexpr std::size_t target_kind_count = 10;
std::string_view name_of(TargetKind kind);

class Target {
 public:
  static constexpr std::size_t max_name_bytes = 63;

  // Reads "<kind>:<name>": <name> is 1..max_name_bytes of [a-z0-9_-], starts with a letter and ends with a
  // letter or digit. Fails with `invalid`; the message names the broken rule and never repeats `text`,
  // because a rejected target may hold a password.
  static Result<Target> parse(std::string_view text);
  // The same rules for a name alone.
  static Result<Target> make(TargetKind kind, std::string_view name);

  TargetKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  std::string text() const;  // parse(text()) gives an equal Target
  auto operator<=>(const Target&) const = default;

 private:
  Target(TargetKind kind, std::string_view name) : kind_(kind), name_(name) {}
  TargetKind kind_;
  std::string name_;
};

enum class Plane : std::uint8_t { task, turn, tool, console, web, browser, relay, stream };
inline constexpr std::size_t plane_count = 8;
std::string_view name_of(Plane plane);
// Fails with `invalid` for any other word; the word is not repeated.
Result<Plane> parse_plane(std::string_view text);

// The two ends of a tunnel. The node dials; its channel ids are odd, the hub's even.
enum class Side : std::uint8_t { hub, node };
std::string_view name_of(Side side);
constexpr Side other(Side side) { return side == Side::hub ? Side::node : Side::hub; }

// On whose behalf a channel is opened. The hub decides this from the account and the conversation; it
// is never read from the wire.
enum class Principal : std::uint8_t {
  person,
  ai,                      // an agent member or an MCP client outside any conversation of its owner
  ai_in_conversation,      // in its owner's conversation
  ai_coding_conversation,  // in a conversation whose owner chose coding
  resident,                // a member with a live residency on the node
  tunnel_end,              // hub and node themselves
};
inline constexpr std::size_t principal_count = 6;

bool may_open(Side opener, Plane plane);
bool may_use(Principal principal, Plane plane);

// A plane with a target that it may name. The only form in which a channel is asked for.
class ChannelTarget {
 public:
  // Fails with `invalid` for a pair outside the table, a relay other than model, mcp and git, or a stream
  // whose name is no stream id.
  static Result<ChannelTarget> make(Plane plane, Target target);
  // From the texts of an Open message.
  static Result<ChannelTarget> parse(std::string_view plane, std::string_view target);

  Plane plane() const { return plane_; }
  const Target& target() const { return target_; }
  bool operator==(const ChannelTarget&) const = default;

 private:
  ChannelTarget(Plane plane, Target target) : plane_(plane), target_(std::move(target)) {}
  Plane plane_;
  Target target_;
};

}  // namespace outhaul::wire
