#include "hub/tasks/selector.h"

#include <algorithm>

#include <fmt/format.h>

#include "http/json_reader.h"
#include "http/json_writer.h"

namespace outhaul::hub {
namespace {

constexpr std::string_view task_plane = "task";
constexpr std::size_t max_named_nodes = 5;

std::string words_for(ErrorCode code, wire::IsolationLevel least, const NodeFacts& node) {
  switch (code) {
    case ErrorCode::no_node_matches: return "the selector does not mean this node";
    case ErrorCode::target_unavailable: return "it was enrolled without the plane `task`";
    case ErrorCode::session_lost: return "it is not attached";
    case ErrorCode::node_locked: return "its owner has locked it";
    case ErrorCode::draining: return "it is draining";
    case ErrorCode::isolation_unavailable:
      return fmt::format("it does not offer isolation `{}` or more", wire::name_of(least));
    case ErrorCode::user_signature_missing:
      return "it runs only what a person has signed: `outhaul run --sign`";
    default:
      return node.live_tasks < node.slots ? "it says that it has no room"
                                          : fmt::format("all of its {} slots are taken", node.slots);
  }
}

bool has_label(const NodeFacts& node, const std::pair<const std::string, std::string>& wanted) {
  const auto found = node.labels.find(wanted.first);
  return found != node.labels.end() && found->second == wanted.second;
}

bool serves_tasks(const NodeFacts& node) {
  return node.planes.empty() || node.planes.contains(std::string(task_plane));
}

}  // namespace

std::string selector_json(const Selector& selector) {
  http::JsonWriter json;
  json.begin_object();
  if (!selector.node.empty()) json.field("node", selector.node);
  if (!selector.pool.empty()) json.field("pool", selector.pool);
  if (!selector.labels.empty()) {
    json.key("labels").begin_object();
    for (const auto& [name, value] : selector.labels) json.field(name, value);
    json.end_object();
  }
  json.end_object();
  return std::move(json).take_text();
}

Result<Selector> parse_selector_row(std::string_view text) {
  const auto corrupt = [] {
    return fail(ErrorCode::store_corrupt, "task row: its selector is not what was written");
  };
  auto json = http::JsonReader::parse(text);
  if (!json) return corrupt();
  Selector selector;
  selector.node = json->find_string("node").value_or("");
  selector.pool = json->find_string("pool").value_or("");
  for (auto& [name, value] : json->find_string_map("labels")) selector.labels.emplace(name, value);
  if (!json->finish()) return corrupt();
  return selector;
}

std::string waiting_text(const std::vector<Waiting>& reasons) {
  if (reasons.empty()) return "no node is enrolled";
  std::string text;
  std::size_t meant = 0;
  for (const auto& reason : reasons) {
    if (reason.code == ErrorCode::no_node_matches || ++meant > max_named_nodes) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", reason.node_name, reason.reason);
  }
  if (meant == 0) return "the selector means none of the enrolled nodes";
  if (meant > max_named_nodes) text += fmt::format("; and {} more nodes", meant - max_named_nodes);
  return text;
}

bool selects(const Selector& selector, const NodeFacts& node) {
  if (!selector.node.empty() && selector.node != node.id.text() && selector.node != node.name) return false;
  if (!selector.pool.empty() && selector.pool != node.pool) return false;
  return std::ranges::all_of(selector.labels,
                             [&node](const auto& wanted) { return has_label(node, wanted); });
}

std::optional<ErrorCode> obstacle(const Selector& selector, const TaskNeeds& needs, const NodeFacts& node) {
  if (!selects(selector, node)) return ErrorCode::no_node_matches;
  if (!serves_tasks(node)) return ErrorCode::target_unavailable;
  if (!node.is_attached) return ErrorCode::session_lost;
  if (node.is_locked) return ErrorCode::node_locked;
  if (node.is_draining) return ErrorCode::draining;
  if (std::ranges::none_of(node.isolation, [&](auto level) { return level >= needs.least; }))
    return ErrorCode::isolation_unavailable;
  if (node.asks_user_signature && !needs.is_signed) return ErrorCode::user_signature_missing;
  if (node.live_tasks >= node.slots || node.is_full_by_its_word) return ErrorCode::node_full;
  return std::nullopt;
}

std::optional<Waiting> why_not(const Selector& selector, const TaskNeeds& needs, const NodeFacts& node) {
  const auto code = obstacle(selector, needs, node);
  if (!code) return std::nullopt;
  return Waiting{node.id, node.name, *code, words_for(*code, needs.least, node)};
}

void LeastLoaded::offer(const NodeFacts& node) {
  // live / slots compared without division.
  const auto ours = std::uint64_t{node.live_tasks} * best_slots_;
  const auto best = std::uint64_t{best_live_} * node.slots;
  if (best_ && (ours > best || (ours == best && *best_ < node.id))) return;
  best_ = node.id;
  best_live_ = node.live_tasks;
  best_slots_ = node.slots;
}

}  // namespace outhaul::hub
