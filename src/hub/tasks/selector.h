// Selector: on which nodes a task may run, and why it does not run on one. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "store/node_store.h"
#include "wire/task_spec.h"

namespace outhaul::hub {

// Every fact that is named must hold. An empty one means any node.
struct Selector {
  std::string node;  // id or name
  std::string pool;
  store::Labels labels;
  bool is_empty() const { return node.empty() && pool.empty() && labels.empty(); }
  auto operator<=>(const Selector&) const = default;
};
// The form of TaskRow::selector_json and of the interface.
std::string selector_json(const Selector& selector);
// For text that selector_json wrote. Fails with store_corrupt.
Result<Selector> parse_selector_row(std::string_view json);

// What a decision needs to know of one node, now.
struct NodeFacts {
  NodeId id;
  std::string name;
  std::string pool;
  store::Labels labels;
  store::Planes planes;                         // that the administrator allows; empty means all
  std::vector<wire::IsolationLevel> isolation;  // that it has proven
  bool is_attached = false;
  bool is_draining = false;
  bool is_locked = false;  // by its owner
  bool asks_user_signature = false;
  // It refused for capacity and nothing has changed since.
  bool is_full_by_its_word = false;
  std::uint32_t slots = 0;
  std::uint32_t live_tasks = 0;  // dispatched to it and not ended: counted, never remembered apart
};

// What a task asks of a node.
struct TaskNeeds {
  wire::IsolationLevel least = wire::IsolationLevel::trusted;
  bool is_signed = false;  // by a person
  auto operator<=>(const TaskNeeds&) const = default;
};

// Why a task does not run on one node now.
struct Waiting {
  NodeId node;
  std::string node_name;
  ErrorCode code = ErrorCode::no_node_matches;
  std::string reason;  // one line, lower case
  bool operator==(const Waiting&) const = default;
};

// Why no node takes a task, in one line for its end: what holds each node that was meant, the first few
// named.
std::string waiting_text(const std::vector<Waiting>& reasons);

// Whether the node is one that the selector means, attached or not.
bool selects(const Selector& selector, const NodeFacts& node);
// Empty: the task may be sent to this node now. Cheap: it is asked of every node.
std::optional<ErrorCode> obstacle(const Selector& selector, const TaskNeeds& needs, const NodeFacts& node);
// The same, in words.
std::optional<Waiting> why_not(const Selector& selector, const TaskNeeds& needs, const NodeFacts& node);

// The attached node with the smallest share of busy slots; the lower id where two are equal, so that the same
// facts always give the same choice.
class LeastLoaded {
 public:
  void offer(const NodeFacts& node);
  const std::optional<NodeId>& best() const { return best_; }

 private:
  std::optional<NodeId> best_;
  std::uint32_t best_live_ = 0;
  std::uint32_t best_slots_ = 1;
};

}  // namespace outhaul::hub
