#include "hub/tasks/selector.h"

#include <algorithm>

#include <fmt/format.h>

#include "http/json_reader.h"
#include "http/json_writer.h"

namespace outhaul::hub {
namespace {

constexpr std::string_view task_plane = "task";
constexpr std::size_t max_named_nodes = 5;

Waiting waiting(const NodeFacts& node, ErrorCode code, std::string reason) {
  return {node.id, node.name, code, std::move(reason)};
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

std::optional<Waiting> why_not(const Selector& selector, wire::IsolationLevel least, const NodeFacts& node) {
  if (!selects(selector, node)) {
    return waiting(node, ErrorCode::no_node_matches, "the selector does not mean this node");
  }
  if (!serves_tasks(node)) {
    return waiting(node, ErrorCode::target_unavailable, "it was enrolled without the plane `task`");
  }
  if (!node.is_attached) return waiting(node, ErrorCode::session_lost, "it is not attached");
  if (node.is_locked) return waiting(node, ErrorCode::node_locked, "its owner has locked it");
  if (node.is_draining) return waiting(node, ErrorCode::draining, "it is draining");
  if (std::ranges::none_of(node.isolation, [least](auto level) { return level >= least; })) {
    return waiting(node, ErrorCode::isolation_unavailable,
                   fmt::format("it does not offer isolation `{}` or more", wire::name_of(least)));
  }
  if (node.live_tasks >= node.slots) {
    return waiting(node, ErrorCode::node_full, fmt::format("all of its {} slots are taken", node.slots));
  }
  if (node.is_full_by_its_word) return waiting(node, ErrorCode::node_full, "it says that it has no room");
  return std::nullopt;
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
