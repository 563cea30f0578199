#include "hub/tasks/dispatcher.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/within.h"

namespace outhaul::hub {
namespace {

Error forgotten_since_backup() {
  return {
      ErrorCode::hub_restored,
      "the hub was restored from a backup in which this task had not ended, and no node holds it any more"};
}

}  // namespace

NodeFacts& Dispatcher::facts_now(NodeRecord& record) const {
  record.facts.live_tasks = needs_.board.live_on(record.row.id);
  return record.facts;
}

bool Dispatcher::can_take(const LiveTask& task, NodeRecord& record) const {
  return record.attachment && record.attachment->link != nullptr &&
         !obstacle(task.selector, task.needs(), facts_now(record));
}

std::optional<NodeId> Dispatcher::choose(const LiveTask& task) {
  if (!task.selector.node.empty()) {
    auto* record = needs_.registry.find_by_text(task.selector.node);
    return record != nullptr && can_take(task, *record) ? std::optional(record->row.id) : std::nullopt;
  }
  LeastLoaded choice;
  for (auto& [id, record] : needs_.registry.records()) {
    if (can_take(task, record)) choice.offer(record.facts);
  }
  return choice.best();
}

void Dispatcher::place_fresh(const LiveTaskPtr& task) {
  const auto node = choose(*task);
  if (!node) return;
  needs_.courier.sign_and_overtake(task, *needs_.registry.link_of(*node));
}

Task<void> Dispatcher::run() {
  auto& due = needs_.board.dispatch_due();
  while (true) {
    const auto deadline = needs_.board.queue().next_deadline();
    if (deadline == TimePoint::max()) {
      co_await due.wait();
    } else {
      co_await within(clock_, deadline, due.wait());
    }
    due.reset();
    settle_doubts();
    expire_queued();
    dispatch_queued();
  }
}

// Oldest first. A task that waits for one node does not hold up those behind it; where it finds none, no
// other that needs the same does.
void Dispatcher::dispatch_queued() {
  const auto& queue = needs_.board.queue();
  auto heads = has_room() ? queue.heads() : std::map<TaskId, LiveTaskPtr>();
  while (!heads.empty()) {
    const auto task = heads.extract(heads.begin()).mapped();
    const auto node = choose(*task);
    if (!node) continue;
    needs_.courier.sign_and_send(task, *node);
    if (!has_room()) return;
    auto next = queue.head_like(*task);
    if (next && next != task) heads.emplace(next->row.id, std::move(next));
  }
}

// Spares the queue a walk over nodes that are all full.
bool Dispatcher::has_room() const {
  return std::ranges::any_of(needs_.registry.records(), [this](auto& entry) {
    const auto& facts = facts_now(entry.second);
    return facts.is_attached && !facts.is_draining && !facts.is_locked && !facts.is_full_by_its_word &&
           facts.live_tasks < facts.slots;
  });
}

void Dispatcher::expire_queued() {
  for (const auto& task : needs_.board.queue().overdue(clock_.now())) {
    const Error evidence(ErrorCode::queue_timeout,
                         "no node could take the task in time: " + waiting_text(waiting(*task)));
    needs_.ender.end_by_hub(task, store::TaskState::failed, evidence);
  }
}

std::vector<Waiting> Dispatcher::waiting(const LiveTask& task) const {
  std::vector<Waiting> reasons;
  // As others are told of it: until an end is durable it still waits.
  if (task.shown().state != store::TaskState::queued) return reasons;
  for (auto& [id, record] : needs_.registry.records()) {
    const auto& facts = facts_now(record);
    auto reason =
        task.is_doubtful() ? doubts_.why_waiting(task, facts) : why_not(task.selector, task.needs(), facts);
    if (reason) reasons.push_back(std::move(*reason));
  }
  return reasons;
}

Result<void> Dispatcher::check_signature(const LiveTask& task) const {
  if (task.needs().is_signed) return {};
  bool is_asked = false;
  for (const auto& [id, record] : needs_.registry.records()) {
    if (!selects(task.selector, record.facts)) continue;
    if (!record.facts.asks_user_signature) return {};
    is_asked = true;
  }
  if (!is_asked) return {};
  return fail(ErrorCode::user_signature_missing,
              "every node that is meant runs only what a person has signed");
}

// What no node can bring back any more. Whatever the selector says: it may have meant other nodes before.
void Dispatcher::settle_doubts() {
  for (const auto& task : needs_.board.doubtful()) {
    if (is_complete(task->row.stream) || !waiting(*task).empty()) continue;
    doubts_.forget(task->row.id);
    needs_.ender.end_by_hub(task, store::TaskState::lost, forgotten_since_backup());
  }
}

void Dispatcher::note_given_up(const NodeId& node) {
  doubts_.note_given_up(node);
  needs_.board.wake_dispatcher();
}

bool Dispatcher::is_complete(const StreamId& stream) const {
  const auto totals = needs_.streams.find(stream);
  return totals && totals->complete;
}

void Dispatcher::reconcile(NodeLink& link, const v1::Hello& hello) {
  const NodeHoldings known(hello);
  doubts_.note_attached(link.node(), known, needs_.board.doubtful());
  for (const auto& task : needs_.board.on_node(link.node())) {
    if (task->is_commit_pending || is_complete(task->row.stream)) continue;
    if (!known.holds(task->row)) {
      reconcile_unknown(task, link, hello);
    } else if (task->row.state == store::TaskState::dispatched) {
      needs_.courier.note_accepted(task, link);
    } else {
      needs_.courier.resume(task, link);
    }
  }
  needs_.board.wake_dispatcher();
}

// The node forgets a task only when we have acknowledged its stream to the end; and what it never had can no
// longer arrive, because the session that carried it is over.
void Dispatcher::reconcile_unknown(const LiveTaskPtr& task, NodeLink& link, const v1::Hello& hello) {
  if (task->row.state != store::TaskState::dispatched) {
    Error evidence =
        task->row.is_in_doubt
            ? forgotten_since_backup()
            : Error(ErrorCode::task_lost, "the node attached without knowing a task that it had accepted");
    evidence = std::move(evidence).with("instance", hello.instance_id()).with("boot", hello.boot_id());
    return needs_.ender.end_by_hub(task, store::TaskState::lost, evidence);
  }
  if (task->row.times.cancel_requested_at) {
    const Error wish(ErrorCode::task_cancelled, "cancelled before it reached the node");
    return needs_.ender.end_by_hub(task, store::TaskState::cancelled, wish);
  }
  needs_.courier.send_again(task, link);
}

void Dispatcher::lose_all(const NodeId& node, const Error& evidence) {
  for (const auto& task : needs_.board.on_node(node)) {
    if (!is_complete(task->row.stream)) needs_.ender.end_by_hub(task, store::TaskState::lost, evidence);
  }
  needs_.board.wake_dispatcher();
}

}  // namespace outhaul::hub
