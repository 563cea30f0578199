#include "tests/sim/promise_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/head.h"

namespace outhaul::sim {
namespace {

// A session that was given up may still send what was queued, until its Goodbye has left.
constexpr Duration parting_limit = std::chrono::seconds(2);

bool is_from_hub(const Place& place) { return place.port == "hub"; }

bool is_named(const v1::Hello& hello, const TaskId& task, const StreamId& stream) {
  const bool is_live = std::ranges::find(hello.live_tasks(), task.text()) != hello.live_tasks().end();
  return is_live || std::ranges::any_of(hello.unacknowledged(), [&](const v1::StreamPosition& position) {
           return position.stream_id() == stream.text();
         });
}

}  // namespace

HeldPosition PromiseBook::held(const StreamId& stream) const {
  const auto found = held_.find(stream);
  return found == held_.end() ? HeldPosition() : found->second;
}

void PromiseBook::on_hello(const Place& place, const v1::Hello& hello) {
  note_head(place, testing::SimSide::node, hello.audit_head());
  for (const auto& task : accepted_[place.path]) {
    const auto& stream = streams_[task];
    if (held(stream).was_complete || is_named(hello, task, stream)) continue;
    stage_.verdict.fail("accepted_task_is_known", fmt::format("{} forgot {}", place.path, task.text()));
  }
}

void PromiseBook::note_head(const Place& place, testing::SimSide sender, const Bytes& head) {
  const auto node = eyes_.identity_of(place.path);
  if (node.is_empty() || !is_from_hub(place)) return;
  const auto log =
      sender == testing::SimSide::node ? node.text() : audit::hub_log_name(SimDeployment::name());
  stage_.audit.note_head(log, place, head);
}

std::map<TaskId, std::string> PromiseBook::note_restore() {
  void_epochs_ = newest_epoch_;
  std::map<TaskId, std::string> still_held;
  for (const auto& [path, tasks] : accepted_) {
    for (const auto& task : tasks) {
      if (!held(streams_[task]).was_complete) still_held.emplace(task, path);
    }
  }
  for (auto& [stream, held] : held_) {
    held.offset = 0;
    held.is_complete = false;
  }
  return still_held;
}

void PromiseBook::on_heartbeat(const Place& place, testing::SimSide sender, const v1::Heartbeat& heartbeat) {
  note_head(place, sender, heartbeat.audit_head());
}

void PromiseBook::on_welcome(const Place& place, const v1::Welcome& welcome) {
  const auto node = eyes_.identity_of(place.path);
  note_head(place, testing::SimSide::hub, welcome.audit_head());
  if (is_from_hub(place) && !node.is_empty()) sessions_[node] = {place.connection, stage_.world.now()};
}

void PromiseBook::on_hub_activity(const Place& place) {
  const auto found = sessions_.find(eyes_.identity_of(place.path));
  if (!is_from_hub(place) || found == sessions_.end()) return;
  const auto& session = found->second;
  if (place.connection >= session.connection || stage_.world.now() < session.began + parting_limit) return;
  stage_.verdict.fail("one_live_session", fmt::format("connections {} and {} of {}", place.connection,
                                                      session.connection, place.path));
}

void PromiseBook::on_envelope(const Place& place, const wire::TaskSpec& spec, const Bytes& envelope) {
  if (!is_from_hub(place)) return;
  newest_epoch_ = std::max(newest_epoch_, spec.fence.epoch);
  if (spec.fence.epoch <= void_epochs_)
    stage_.verdict.fail("no_fence_is_used_twice", spec.task_id.text() + " is sent under a fence of before");
  streams_.emplace(spec.task_id, spec.stream_id);
  stage_.programs.expect(spec.task_id, spec.audience);
  auto& sent = envelopes_[place.path];
  if (std::ranges::find(sent, envelope) == sent.end()) sent.push_back(envelope);
  if (const auto* argv = std::get_if<wire::ArgvAction>(&spec.action)) {
    stage_.programs.note_name(spec.task_id, argv->argv.front());
  }
  if (const auto* echo = std::get_if<wire::EchoAction>(&spec.action)) {
    stage_.programs.add_echo(spec.task_id, echo->text);
  }
  eyes_.on_task(spec.task_id, spec.stream_id);
  eyes_.on_moment(Moment::task_sent, place);
}

void PromiseBook::on_answer(const Place& place, const TaskId& task, std::optional<std::string> refusal) {
  if (refusal || !streams_.contains(task)) return;
  accepted_[place.path].insert(task);
  eyes_.on_moment(Moment::task_accepted, place);
}

void PromiseBook::on_held(const Place& place, const v1::StreamPosition& position) {
  if (!is_from_hub(place)) return;
  auto& held = held_[StreamId::assume(position.stream_id())];
  held.offset = std::max(held.offset, position.offset());
  held.is_complete = held.is_complete || position.complete();
  held.was_complete = held.was_complete || held.is_complete;
  eyes_.on_moment(Moment::stream_held, place);
}

void PromiseBook::on_result(const Place& place, const StreamId& stream, ByteView record) {
  // What the hub has said to hold, or not to want, the node may forget while the last of it is on its way.
  const bool is_owed = !held(stream).was_complete;
  if (is_owed && !eyes_.identity_of(place.path).is_empty() && !eyes_.is_durable_on(place.path, record)) {
    stage_.verdict.fail("result_is_durable_before_it_leaves",
                        fmt::format("{} of {}", stream.text(), place.path));
  }
  if (const auto parsed = stream::parse_record(record); parsed && !eyes_.identity_of(place.path).is_empty())
    stage_.audit.note_result(parsed->payload);
  eyes_.on_moment(Moment::result_sent, place);
}

}  // namespace outhaul::sim
