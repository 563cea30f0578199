#include "wire/task_gate.h"

#include <algorithm>
#include <utility>

#include "base/planted_fault.h"
#include "outhaul/v1/task.pb.h"

namespace outhaul::wire {
namespace {

using std::chrono::nanoseconds;

// "17m 3s": what a person compares with a clock.
std::string text_of(nanoseconds span) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::abs(span)).count();
  constexpr std::int64_t minute = 60, hour = 3600;
  if (seconds >= hour)
    return std::to_string(seconds / hour) + "h " + std::to_string(seconds % hour / minute) + "m";
  if (seconds >= minute)
    return std::to_string(seconds / minute) + "m " + std::to_string(seconds % minute) + "s";
  return std::to_string(seconds) + "s";
}

std::string skew_text(const GateTime& time) {
  if (!time.hub_offset) return "the skew between this node's clock and the hub's was never measured";
  return "this node's clock is " + text_of(*time.hub_offset) +
         (time.hub_offset->count() > 0 ? " behind" : " ahead of") + " the hub's";
}

std::unexpected<Error> expired(const std::string& what, const GateTime& time) {
  Error error(ErrorCode::task_expired, "task: " + what + "; " + skew_text(time));
  if (time.hub_offset) error = std::move(error).with("skew_ns", std::to_string(-time.hub_offset->count()));
  return fail(std::move(error));
}

// Every refusal of the rules is one; an `internal` of theirs too: what cannot be decided does not start.
bool leaves_nonce_unused(ErrorCode code) { return code == ErrorCode::node_disk_full; }

GateDecision refused(Error error) {
  return {.admitted = {}, .record = {}, .refusal = std::move(error), .user_key = {}};
}

// From then on the mark alone refuses the envelope, and the order that it carries.
WallTime end_of(const GateRecord& record) {
  const WallTime end = record.issued_at + clock_window;
  return record.user ? std::max(end, record.user->expires_at) : end;
}

std::unexpected<Error> order_out_of_time(const std::string& what, const GateTime& time) {
  return fail(ErrorCode::user_signature_invalid, "the person's signature " + what + "; " + skew_text(time));
}

}  // namespace

WallTime corrected(const GateTime& time) {
  const auto offset = time.hub_offset.value_or(nanoseconds::zero());
  return time.wall + std::clamp<nanoseconds>(offset, -max_clock_correction, max_clock_correction);
}

TaskGate::TaskGate(GateConfig config, const TaskRules& rules, FindState find_state)
    : config_(std::move(config)), rules_(rules), find_state_(std::move(find_state)) {}

void TaskGate::restore(const GateRecord& record) {
  mark_ = std::max(mark_, record.mark);
  fence_epoch_ = std::max(fence_epoch_, record.fence_epoch);
  if (!OUTHAUL_FAULT("nonce_forgotten")) remember(record);
  prune();
}

void TaskGate::remember(const GateRecord& record) {
  if (!records_.try_emplace(record.nonce, record).second) return;
  // Records come back in any order: a refusal never hides that another envelope of the task was accepted.
  const auto [known, is_new] = by_task_.try_emplace(record.task_id, record.nonce);
  if (!is_new && !record.refused) known->second = record.nonce;
  // What was refused has not run, and the same order may come again.
  if (record.user && !record.refused) by_user_nonce_.try_emplace(record.user->nonce, record.nonce);
  by_end_.emplace(end_of(record), record.nonce);
}

Result<TaskGate::Opened> TaskGate::open(ByteView envelope) const {
  OUTHAUL_TRY(spec, open_task_envelope(envelope, keys_));
  if (spec.audience != config_.self && !OUTHAUL_FAULT("foreign_audience_accepted"))
    return fail(ErrorCode::task_audience_mismatch, "task: signed for another node");
  if (spec.issuer != config_.issuer)
    return fail(ErrorCode::task_audience_mismatch, "task: signed by another deployment");
  if (!config_.users) return Opened{std::move(spec), std::nullopt};
  OUTHAUL_TRY(order, open_order(spec));
  return Opened{std::move(spec), std::move(order)};
}

Result<SignedOrder> TaskGate::open_order(const TaskSpec& spec) const {
  OUTHAUL_TRY(opened, open_user_order(spec.user_order, *config_.users));
  auto difference = find_difference(opened.order, spec);
  const auto& name = opened.order.node_name;
  if (!name.empty() && !config_.name.empty() && name != config_.name) difference = "the name of the node";
  if (!difference) return opened;
  return fail(ErrorCode::user_signature_invalid,
              "the person's signature is for something else: " + *difference + " differs");
}

GateDecision TaskGate::judge(ByteView envelope, const GateTime& time) {
  auto task = open(envelope);
  if (!task) return refused(std::move(task).error());
  // Before the times: it starts nothing, and a hub that was away for longer than the window needs it.
  if (auto replay = find_replay(task->spec)) return refused(*std::move(replay));
  if (auto in_time = check_times(*task, time); !in_time) return refused(std::move(in_time).error());

  const auto allowed = check_rules(task->spec);
  if (!allowed && leaves_nonce_unused(allowed.error().code())) return refused(allowed.error());
  GateDecision decision;
  if (!allowed) {
    decision.record = consume(*task, allowed.error().code());
    decision.refusal = allowed.error();
  } else {
    decision.record = consume(*task, std::nullopt);
    if (task->order) decision.user_key = task->order->key_id;
    decision.admitted = std::move(task->spec);
  }
  return decision;
}

const GateRecord* TaskGate::find_record(const TaskSpec& spec) const {
  if (const auto known = records_.find(spec.nonce); known != records_.end()) return &known->second;
  // The same task under a fresh nonce is still the same task: it runs at most once.
  // One that was refused has not run, and may be offered again.
  const auto nonce = by_task_.find(spec.task_id);
  if (nonce == by_task_.end()) return nullptr;
  const auto& record = records_.at(nonce->second);
  return record.refused ? nullptr : &record;
}

std::optional<Error> TaskGate::find_replay(const TaskSpec& spec) const {
  const auto* const record = find_record(spec);
  const auto& task_id = record != nullptr ? record->task_id : spec.task_id;
  auto state = find_state_(task_id);
  if (!state && record != nullptr) state = record->refused ? "refused" : "accepted";
  if (!state) return std::nullopt;
  auto error = Error(ErrorCode::task_replayed, "task: seen before; its first run is " + *state)
                   .with("task", task_id.text())
                   .with("state", *state)
                   .with("stream", record != nullptr ? record->stream_id.text() : spec.stream_id.text());
  if (record == nullptr || !record->refused) return error;
  return std::move(error).with("refused_with", std::string(name_of(*record->refused)));
}

Result<void> TaskGate::check_times(const Opened& task, const GateTime& time) const {
  const auto& spec = task.spec;
  const auto now = corrected(time);
  if (now >= spec.expires_at && !OUTHAUL_FAULT("expired_accepted"))
    return expired("expired " + text_of(now - spec.expires_at) + " ago", time);
  if (spec.issued_at > now + clock_window) {
    return expired("issued " + text_of(spec.issued_at - now) + " in the future", time);
  }
  if (spec.issued_at < mark_ - clock_window) {
    return expired(
        "issued " + text_of(mark_ - spec.issued_at) + " before the newest task that this node has seen",
        time);
  }
  return task.order ? check_order(task.order->order, time) : Result<void>();
}

// The task itself is not known here: the order comes again only as another one.
Result<void> TaskGate::check_order(const UserOrder& order, const GateTime& time) const {
  const auto& signed_task = order.task;
  const auto now = corrected(time);
  const auto last = std::max(now, mark_);
  if (last >= signed_task.expires_at)
    return order_out_of_time("expired " + text_of(last - signed_task.expires_at) + " ago", time);
  if (signed_task.issued_at > now + clock_window)
    return order_out_of_time("is from " + text_of(signed_task.issued_at - now) + " in the future", time);
  if (by_user_nonce_.contains(signed_task.nonce)) {
    return fail(ErrorCode::user_signature_replayed,
                "what the person signed has run already, as another task: it runs once");
  }
  return {};
}

Result<void> TaskGate::check_rules(const TaskSpec& spec) const {
  OUTHAUL_CHECK(rules_.check_owner(spec));
  if (spec.fence.epoch < fence_epoch_) {
    return fail(ErrorCode::task_fence_superseded,
                "task: its hub epoch is older than one that this node has seen");
  }
  OUTHAUL_CHECK(rules_.check_policy(spec));
  OUTHAUL_CHECK(rules_.check_consent(spec));
  return rules_.check_capacity(spec);
}

GateRecord TaskGate::consume(const Opened& task, std::optional<ErrorCode> refusal) {
  const auto& spec = task.spec;
  mark_ = std::max(mark_, spec.issued_at);
  fence_epoch_ = std::max(fence_epoch_, spec.fence.epoch);
  GateRecord record{.task_id = spec.task_id,
                    .nonce = spec.nonce,
                    .issued_at = spec.issued_at,
                    .mark = mark_,
                    .fence_epoch = fence_epoch_,
                    .stream_id = spec.stream_id,
                    .refused = refusal,
                    .user = std::nullopt};
  if (task.order) record.user = {task.order->order.task.nonce, task.order->order.task.expires_at};
  remember(record);
  prune();
  return record;
}

// An envelope this old is refused by the mark alone, so its nonces need not be remembered.
void TaskGate::prune() {
  while (!by_end_.empty() && by_end_.begin()->first < mark_) {
    const auto record = records_.find(by_end_.begin()->second);
    const auto& [nonce, known] = *record;
    const auto is_of_record = [&nonce](const auto& entry) { return entry.second == nonce; };
    const auto task = by_task_.find(known.task_id);
    if (task != by_task_.end() && is_of_record(*task)) by_task_.erase(task);
    const auto user = known.user ? by_user_nonce_.find(known.user->nonce) : by_user_nonce_.end();
    if (user != by_user_nonce_.end() && is_of_record(*user)) by_user_nonce_.erase(user);
    records_.erase(record);
    by_end_.erase(by_end_.begin());
  }
}

std::vector<GateRecord> TaskGate::live_records() const {
  std::vector<GateRecord> live;
  live.reserve(records_.size());
  for (const auto& [nonce, record] : records_) live.push_back(record);
  return live;
}

Bytes serialise_gate_record(const GateRecord& record) {
  v1::GateRecord message;
  message.set_task_id(record.task_id.text());
  message.set_nonce(record.nonce);
  message.set_issued_at_ns(record.issued_at.nanoseconds);
  message.set_mark_ns(record.mark.nanoseconds);
  message.set_fence_epoch(record.fence_epoch);
  message.set_stream_id(record.stream_id.text());
  if (record.refused) message.set_refused(std::string(name_of(*record.refused)));
  if (record.user) {
    message.set_user_nonce(record.user->nonce);
    message.set_user_expires_at_ns(record.user->expires_at.nanoseconds);
  }
  return message.SerializeAsString();
}

Result<GateRecord> parse_gate_record(ByteView serialised) {
  const auto corrupt = [] {
    return fail(ErrorCode::journal_corrupt, "task record: not as this program writes it");
  };
  v1::GateRecord message;
  if (!message.ParseFromArray(serialised.data(), static_cast<int>(serialised.size()))) return corrupt();
  const auto task_id = TaskId::parse(message.task_id());
  const auto stream_id = StreamId::parse(message.stream_id());
  if (!task_id || !stream_id || message.nonce().size() != task_nonce_bytes) return corrupt();
  GateRecord record{.task_id = *task_id,
                    .nonce = message.nonce(),
                    .issued_at = {message.issued_at_ns()},
                    .mark = {message.mark_ns()},
                    .fence_epoch = message.fence_epoch(),
                    .stream_id = *stream_id,
                    .refused = std::nullopt,
                    .user = std::nullopt};
  if (!message.user_nonce().empty()) record.user = {message.user_nonce(), {message.user_expires_at_ns()}};
  // A later version may have refused by a code that this one lacks.
  if (!message.refused().empty())
    record.refused = find_error_code(message.refused()).value_or(ErrorCode::denied);
  return record;
}

}  // namespace outhaul::wire
