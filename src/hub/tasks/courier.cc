#include "hub/tasks/courier.h"

#include <algorithm>

#include "base/planted_fault.h"

namespace outhaul::hub {
namespace {

constexpr Duration retry_interval = std::chrono::seconds(1);
// A disk comes free at any time, and nobody tells.
constexpr Duration room_interval = std::chrono::seconds(2);

// What the node said when it first saw the envelope: of one that it refused, the state of the run is the
// refusal.
ErrorCode first_answer(const Error& refusal) {
  const auto detail = [&refusal](std::string_view name) {
    const auto found = std::ranges::find(refusal.details(), name, &ErrorDetail::name);
    return found == refusal.details().end() ? std::string() : found->value;
  };
  if (refusal.code() != ErrorCode::task_replayed || detail("state") != "refused") return refusal.code();
  return find_error_code(detail("refused_with")).value_or(ErrorCode::denied);
}

}  // namespace

RefusalMeaning meaning_of(ErrorCode refusal) {
  switch (refusal) {
    case ErrorCode::task_replayed: return RefusalMeaning::known;
    case ErrorCode::node_full:
    case ErrorCode::node_locked:
    case ErrorCode::draining: return RefusalMeaning::not_there;
    case ErrorCode::node_disk_full: return RefusalMeaning::not_yet;
    case ErrorCode::task_expired: return RefusalMeaning::too_late;
    case ErrorCode::session_lost:
    case ErrorCode::session_replaced:
    case ErrorCode::channel_reset:
    case ErrorCode::cancelled:
    case ErrorCode::unavailable: return RefusalMeaning::undelivered;
    default: return RefusalMeaning::final;
  }
}

Courier::Courier(const HubPorts& ports, const Needs& needs)
    : needs_(needs), clock_(ports.clock), log_(ports.log), commits_(ports.executor) {}

void Courier::send_again(const LiveTaskPtr& task, NodeLink& link) {
  if (needs_.signer.is_stale(task->row.envelope)) return sign_and_send(task, link.node());
  send(task, link);
}

void Courier::send(const LiveTaskPtr& task, NodeLink& link) {
  link.spawn([this, task, &link] { return offer(task, link); });
}

Task<void> Courier::offer(LiveTaskPtr task, NodeLink& link) {
  if (task->row.state != store::TaskState::dispatched || task->row.node != link.node()) co_return;
  const auto target = wire::ChannelTarget::parse("task", "workspace:" + task->spec.workspace);
  if (!target) co_return settle_refusal(task, link, target.error());
  v1::Open open;
  open.mutable_envelope()->set_bytes(task->row.envelope);
  open.set_traceparent(task->row.traceparent);
  open.set_interactive(task->spec.is_interactive);
  auto channel = link.open(*target, std::move(open));
  if (!channel) co_return settle_refusal(task, link, channel.error());
  // Nothing follows the envelope, so our end leaves in the same message.
  channel->finish();
  const auto answer = co_await channel->accepted();
  if (answer) co_return note_accepted(task, link);
  settle_refusal(task, link, answer.error());
}

void Courier::note_accepted(const LiveTaskPtr& task, NodeLink& link) {
  auto& row = task->row;
  if (row.state != store::TaskState::dispatched || row.node != link.node()) return;
  row.state = store::TaskState::accepted;
  row.times.accepted_at = clock_.wall_now();
  needs_.rows.note_advance(*task);
  task->changed.pulse();
  resume(task, link);
}

void Courier::note_running(const LiveTaskPtr& task, NodeLink& link) {
  note_accepted(task, link);
  auto& row = task->row;
  if (task->is_running_saved || !task->is_on_node() || row.node != link.node()) return;
  task->is_running_saved = true;
  row.state = store::TaskState::running;
  row.times.started_at = clock_.wall_now();  // the result will say it exactly
  needs_.rows.note_advance(*task);
  task->changed.pulse();
}

void Courier::resume(const LiveTaskPtr& task, NodeLink& link) {
  if (task->row.times.cancel_requested_at) send_cancel(*task, link);
  needs_.stdin_pump.start(task, link);
}

void Courier::send_cancel(const LiveTask& task, NodeLink& link) {
  const auto wish = task.cancel.value_or(CancelWish{.grace = task.spec.term_grace});
  v1::Control control;
  auto& cancel = *control.mutable_cancel_task();
  cancel.set_task_id(task.row.id.text());
  cancel.set_signal(wish.signal);
  cancel.set_grace_ns(wish.grace.count());
  const auto sent = link.send_control(control);
  // It goes again with the next session.
  if (!sent) log_.failure("cancel not sent", sent.error());
}

void Courier::settle_refusal(const LiveTaskPtr& task, NodeLink& link, const Error& refusal) {
  // A stream of the task, or its end, may have come before the answer.
  if (task->row.state != store::TaskState::dispatched || task->row.node != link.node()) return;
  const auto meaning = meaning_of(first_answer(refusal));
  if (meaning == RefusalMeaning::final || meaning == RefusalMeaning::not_there) {
    needs_.audit.note(
        audit::AuditEntry(audit::AuditAction::task_refused, link.node().text(), task->row.id.text())
            .refused_by(refusal));
  }
  switch (meaning) {
    case RefusalMeaning::known: return note_accepted(task, link);
    case RefusalMeaning::not_yet:
      if (auto* node = needs_.registry.find(link.node())) node->facts.is_full_by_its_word = true;
      return link.spawn([this, task, &link] { return offer_later(task, link); });
    case RefusalMeaning::not_there: return put_back(task);
    case RefusalMeaning::undelivered:
      if (OUTHAUL_FAULT("task_redispatched_elsewhere")) put_back(task);
      return;
    case RefusalMeaning::too_late:
      if (std::exchange(task->was_resigned, true)) break;
      return sign_and_send(task, link.node());
    case RefusalMeaning::final: break;
  }
  needs_.ender.end_by_hub(task, store::TaskState::failed, refusal);
}

// Another node gets the task only when these bytes can start nowhere any more: whoever kept them could have
// this node run it too.
Task<void> Courier::offer_later(LiveTaskPtr task, NodeLink& link) {
  co_await clock_.sleep_for(room_interval);
  if (task->row.state != store::TaskState::dispatched || task->row.node != link.node()) co_return;
  if (task->row.times.cancel_requested_at) {
    const Error wish(ErrorCode::task_cancelled, "cancelled before it ran");
    co_return needs_.ender.end_by_hub(task, store::TaskState::cancelled, wish);
  }
  if (needs_.signer.is_dead(task->row.envelope)) co_return put_back(task);
  if (needs_.signer.is_stale(task->row.envelope)) {
    link.spawn([this, task, &link] { return offer_later(task, link); });
  } else {
    send(task, link);
  }
}

void Courier::put_back(const LiveTaskPtr& task) {
  if (auto* node = needs_.registry.find(task->row.node)) node->facts.is_full_by_its_word = true;
  auto& row = task->row;
  row.state = store::TaskState::queued;
  row.envelope.clear();
  row.times.dispatched_at.reset();
  needs_.board.move(task, NodeId());
  needs_.rows.note_requeue(*task);
  task->changed.pulse();
  if (task->cancel) {
    const Error wish(ErrorCode::task_cancelled, "cancelled before it ran");
    needs_.ender.end_by_hub(task, store::TaskState::cancelled, wish);
  }
  needs_.board.wake_dispatcher();
}

bool Courier::sign(const LiveTaskPtr& task, const NodeId& node) {
  auto envelope = needs_.signer.sign(task->spec, node);
  if (!envelope) {
    needs_.ender.end_by_hub(task, store::TaskState::failed, envelope.error());
    return false;
  }
  auto& row = task->row;
  row.envelope = std::move(*envelope);
  row.state = store::TaskState::dispatched;
  row.times.dispatched_at = clock_.wall_now();
  needs_.board.move(task, node);
  task->changed.pulse();
  needs_.audit.note(
      audit::AuditEntry(audit::AuditAction::task_dispatched, "hub", row.id.text()).with("node", node.text()));
  return true;
}

void Courier::sign_and_overtake(const LiveTaskPtr& task, NodeLink& link) {
  if (sign(task, link.node())) send(task, link);
}

void Courier::sign_and_send(const LiveTaskPtr& task, const NodeId& node) {
  if (!sign(task, node)) return;
  task->is_commit_pending = true;
  commits_.spawn([this, task] { return commit_and_send(task); });
}

Task<void> Courier::commit_and_send(LiveTaskPtr task) {
  // A task that was sent at once may not have its row yet.
  co_await task->saved.wait();
  while (task->row.state == store::TaskState::dispatched) {
    const auto written = co_await needs_.rows.dispatch(task);
    if (written) break;
    log_.failure("signed task not written", written.error());
    if (written.error().error_class() != ErrorClass::retry) co_return;
    co_await clock_.sleep_for(retry_interval);
  }
  task->is_commit_pending = false;
  if (auto* link = needs_.registry.link_of(task->row.node)) send(task, *link);
}

Task<void> Courier::join() {
  commits_.cancel();
  co_await commits_.join();
}

}  // namespace outhaul::hub
