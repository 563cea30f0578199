#include "hub/tasks/live_task.h"

#include "base/assert.h"
#include "base/planted_fault.h"

namespace outhaul::hub {

void TaskBoard::add(LiveTaskPtr task) {
  const auto& row = task->row;
  by_stream_.emplace(row.stream, row.id);
  if (!row.stdin_stream.is_empty()) by_stream_.emplace(row.stdin_stream, row.id);
  if (task->is_on_node()) {
    by_node_[row.node].insert(row.id);
  } else if (task->is_doubtful() && !OUTHAUL_FAULT("doubt_ignored")) {
    doubtful_.emplace(row.id, task);
  } else if (!task->is_final()) {
    queue_.add(task);
  }
  const auto id = row.id;
  const bool is_new = tasks_.emplace(id, std::move(task)).second;
  OUTHAUL_ASSERT(is_new);
}

void TaskBoard::remove(const TaskId& id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  auto& task = *found->second;
  release(task);
  by_stream_.erase(task.row.stream);
  by_stream_.erase(task.row.stdin_stream);
  tasks_.erase(found);
}

LiveTaskPtr TaskBoard::find(const TaskId& id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : found->second;
}

LiveTaskPtr TaskBoard::find_by_stream(const StreamId& stream) const {
  const auto found = by_stream_.find(stream);
  return found == by_stream_.end() ? nullptr : find(found->second);
}

void TaskBoard::move(const LiveTaskPtr& task, const NodeId& node) {
  release(*task);
  task->row.node = node;
  if (node.is_empty()) {
    queue_.add(task);
  } else {
    by_node_[node].insert(task->row.id);
  }
}

void TaskBoard::release(LiveTask& task) {
  queue_.remove(task);
  doubtful_.erase(task.row.id);
  const auto node = by_node_.find(task.row.node);
  if (node == by_node_.end()) return;
  node->second.erase(task.row.id);
  if (node->second.empty()) by_node_.erase(node);
}

std::uint32_t TaskBoard::live_on(const NodeId& node) const {
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
}

std::vector<LiveTaskPtr> TaskBoard::on_node(const NodeId& node) const {
  std::vector<LiveTaskPtr> tasks;
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return tasks;
  for (const auto& id : found->second) tasks.push_back(find(id));
  return tasks;
}

std::vector<LiveTaskPtr> TaskBoard::doubtful() const {
  std::vector<LiveTaskPtr> tasks;
  for (const auto& [id, task] : doubtful_) tasks.push_back(task);
  return tasks;
}

void TaskBoard::wake_dispatcher() {
  if (!queue_.is_empty() || !doubtful_.empty()) dispatch_due_.set();
}

}  // namespace outhaul::hub
