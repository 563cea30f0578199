#include "hub/tasks/task_queue.h"

#include <algorithm>

#include "hub/tasks/live_task.h"

namespace outhaul::hub {

TaskQueue::Need TaskQueue::need_of(const LiveTask& task) { return {task.selector, task.needs()}; }

void TaskQueue::add(LiveTaskPtr task) {
  const auto& id = task->row.id;
  deadlines_.emplace(std::pair(task->queue_deadline, id), task);
  lines_[need_of(*task)].emplace(id, std::move(task));
}

void TaskQueue::remove(const LiveTask& task) {
  if (deadlines_.erase({task.queue_deadline, task.row.id}) == 0) return;
  const auto line = lines_.find(need_of(task));
  line->second.erase(task.row.id);
  if (line->second.empty()) lines_.erase(line);
}

// Only those that were submitted a moment ago are passed over.
LiveTaskPtr TaskQueue::head_of(const Line& line) {
  const auto head =
      std::ranges::find_if(line, [](const auto& entry) { return entry.second->saved.is_set(); });
  return head == line.end() ? nullptr : head->second;
}

std::map<TaskId, LiveTaskPtr> TaskQueue::heads() const {
  std::map<TaskId, LiveTaskPtr> heads;
  for (const auto& [need, line] : lines_) {
    if (auto head = head_of(line)) heads.emplace(head->row.id, std::move(head));
  }
  return heads;
}

LiveTaskPtr TaskQueue::head_like(const LiveTask& task) const {
  const auto line = lines_.find(need_of(task));
  return line == lines_.end() ? nullptr : head_of(line->second);
}

TimePoint TaskQueue::next_deadline() const {
  return deadlines_.empty() ? TimePoint::max() : deadlines_.begin()->first.first;
}

std::vector<LiveTaskPtr> TaskQueue::overdue(TimePoint now) const {
  std::vector<LiveTaskPtr> tasks;
  for (const auto& [key, task] : deadlines_) {
    if (key.first > now) break;
    tasks.push_back(task);
  }
  return tasks;
}

}  // namespace outhaul::hub
