#include "cli/waiting.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error_code.h"
#include "cli/json_text.h"
#include "cli/terminal.h"

namespace outhaul::cli {
namespace {

constexpr std::size_t most_nodes = 5;

// What a person can do so that this node takes the task.
std::string way_out(std::string_view code, const std::string& node) {
  const auto known = find_error_code(code);
  if (!known) return "";
  switch (*known) {
    case ErrorCode::draining:
      return fmt::format("; `outhaul node drain --undo {}` lets it take tasks again", node);
    case ErrorCode::session_lost: return "; start `outhaul-node run` there, or look at its log";
    case ErrorCode::node_locked:
      return "; `outhaul-node unlock` there lifts that, and nobody but its owner can";
    case ErrorCode::node_full: return "; it starts as soon as there is room";
    case ErrorCode::isolation_unavailable: return "; its owner allows levels in node.yaml there";
    case ErrorCode::target_unavailable: return "; enrol it anew to run tasks there";
    default: return "";
  }
}

bool is_of_another_node(const json::value& reason) {
  return text_at(reason, "code") == name_of(ErrorCode::no_node_matches);
}

std::vector<std::string> reason_lines(const json::array& reasons) {
  std::vector<std::string> lines;
  std::size_t left_out = 0;
  for (const auto& reason : reasons) {
    if (is_of_another_node(reason)) continue;
    if (lines.size() == most_nodes) {
      ++left_out;
      continue;
    }
    const auto node = shown(text_at(reason, "node_name"));
    lines.push_back(fmt::format("  {}: {}{}", node, shown(text_at(reason, "reason")),
                                way_out(text_at(reason, "code"), node)));
  }
  if (left_out > 0) lines.push_back(fmt::format("  and {} more", left_out));
  if (!lines.empty()) return lines;
  if (reasons.empty()) return {"  none is enrolled; `outhaul node token create` makes what a machine needs"};
  return {"  none is what was asked for; `outhaul node list` shows names, pools and labels"};
}

}  // namespace

std::vector<std::string> waiting_lines(const json::value& task) {
  const auto state = text_at(task, "state");
  const auto cancel = std::string("Ctrl-C cancels it");
  if (state == "dispatched") {
    return {fmt::format("the task was sent to node {}, which has not answered yet; {}",
                        shown(text_at(task, "node_name")), cancel)};
  }
  const auto* const reasons = member_of(task, "waiting");
  if (state != "queued" || reasons == nullptr || !reasons->is_array()) return {};
  std::vector<std::string> lines = {"the task waits for a node:"};
  std::ranges::move(reason_lines(reasons->as_array()), std::back_inserter(lines));
  const auto deadline = shown(text_at(task, "queue_deadline"));
  lines.push_back(
      deadline.empty() ? cancel : fmt::format("it waits until {} (--queue-timeout); {}", deadline, cancel));
  return lines;
}

}  // namespace outhaul::cli
