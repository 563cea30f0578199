#include "node/tasks/task_ledger.h"

#include "base/assert.h"
#include "base/planted_fault.h"
#include "stream/little_endian.h"

namespace outhaul::node {
namespace {

using stream::JournalPosition;
using stream::JournalType;

constexpr JournalType gate_type = stream::first_owner_type;
constexpr JournalType accept_type = stream::first_owner_type + 1;  // u8 phase, 8 incarnation, envelope
constexpr JournalType phase_type = stream::first_owner_type + 2;   // u8 phase, task id
constexpr JournalType reason_type = stream::first_owner_type + 3;  // u8 reason, task id
constexpr JournalType totals_type = stream::first_owner_type + 4;  // 3 x u64, 2 x hash state, task id
constexpr JournalType done_type = stream::first_owner_type + 5;    // task id
constexpr JournalType life_type = stream::first_owner_type + 6;    // u64 crashes, u8 running
// u32 size of the gate record, the gate record, then as accept_type. A checkpoint keeps the two apart, for
// a nonce and its task are forgotten at different times.
constexpr JournalType admitted_type = stream::first_owner_type + 7;
// i64 accepted at, 31 task id, u8 bytes of a digest, the digest, the path
constexpr JournalType execution_type = stream::first_owner_type + 8;

constexpr std::size_t accept_header_bytes = 1 + stream::Incarnation::size_bytes;
constexpr std::size_t totals_header_bytes = 3 * 8 + 2 * crypto::ResumableSha256::state_bytes;

std::unexpected<Error> damaged(const char* what) {
  return fail(ErrorCode::journal_corrupt, std::string("task ledger: ") + what);
}

Bytes tagged(std::uint8_t tag, const TaskId& task) {
  Bytes payload(1, static_cast<char>(tag));
  return payload.append(task.text());
}

Bytes encode_accept(const TaskEntry& entry) {
  Bytes payload(1, static_cast<char>(entry.phase));
  return payload.append(entry.incarnation.bytes()).append(entry.envelope);
}

Bytes encode_totals(const TaskId& task, const OutputTotals& totals) {
  Bytes payload;
  stream::append_le(payload, totals.offset);
  stream::append_le(payload, totals.out_bytes);
  stream::append_le(payload, totals.err_bytes);
  return payload.append(totals.out_hash.state()).append(totals.err_hash.state()).append(task.text());
}

Bytes encode_execution(const TaskId& task, const Execution& execution) {
  Bytes payload;
  stream::append_le(payload, execution.accepted_at.nanoseconds);
  payload.append(task.text());
  stream::append_le(payload, static_cast<std::uint8_t>(execution.sha256.size()));
  return payload.append(execution.sha256).append(execution.executable);
}

Result<OutputTotals> decode_totals(ByteView payload) {
  OutputTotals totals;
  totals.offset = stream::get_le<std::uint64_t>(payload.data());
  totals.out_bytes = stream::get_le<std::uint64_t>(payload.data() + 8);
  totals.err_bytes = stream::get_le<std::uint64_t>(payload.data() + 16);
  payload.remove_prefix(24);
  OUTHAUL_TRY(out,
              crypto::ResumableSha256::parse_state(payload.substr(0, crypto::ResumableSha256::state_bytes)));
  payload.remove_prefix(crypto::ResumableSha256::state_bytes);
  OUTHAUL_TRY(err, crypto::ResumableSha256::parse_state(payload));
  totals.out_hash = out;
  totals.err_hash = err;
  return totals;
}

std::size_t header_bytes_of(JournalType type) {
  if (type == done_type) return 0;
  return type == totals_type ? totals_header_bytes : 1;
}

}  // namespace

std::string_view name_of(TaskPhase phase) {
  switch (phase) {
    case TaskPhase::accepted: return "accepted";
    case TaskPhase::starting: return "starting";
    case TaskPhase::ended: return "ended";
    case TaskPhase::waiting: return "awaiting_consent";
  }
  return "ended";
}

Result<JournalPosition> TaskLedger::append_refused(stream::Journal& journal, const wire::GateRecord& record) {
  return journal.append(gate_type, wire::serialise_gate_record(record));
}

Result<JournalPosition> TaskLedger::append_admitted(stream::Journal& journal, const wire::GateRecord& record,
                                                    TaskEntry entry) {
  const Bytes gate = wire::serialise_gate_record(record);
  Bytes size;
  stream::append_le(size, static_cast<std::uint32_t>(gate.size()));
  const Bytes accept = encode_accept(entry);
  const ByteView parts[] = {size, gate, accept};
  OUTHAUL_TRY(position, journal.append(admitted_type, parts));
  add(std::move(entry));
  return position;
}

Result<JournalPosition> TaskLedger::append_phase(stream::Journal& journal, const TaskId& task,
                                                 TaskPhase phase) {
  OUTHAUL_TRY(position, journal.append(phase_type, tagged(static_cast<std::uint8_t>(phase), task)));
  entry_of(task).phase = phase;
  return position;
}

Result<JournalPosition> TaskLedger::append_reason(stream::Journal& journal, const TaskId& task,
                                                  EndReason reason) {
  OUTHAUL_TRY(position, journal.append(reason_type, tagged(static_cast<std::uint8_t>(reason), task)));
  entry_of(task).end_reason = reason;
  return position;
}

Result<JournalPosition> TaskLedger::append_totals(stream::Journal& journal, const TaskId& task,
                                                  OutputTotals totals) {
  OUTHAUL_TRY(position, journal.append(totals_type, encode_totals(task, totals)));
  entry_of(task).totals = totals;
  return position;
}

Result<JournalPosition> TaskLedger::append_execution(stream::Journal& journal, const TaskId& task,
                                                     Execution execution) {
  OUTHAUL_TRY(position, journal.append(execution_type, encode_execution(task, execution)));
  entry_of(task).execution = std::move(execution);
  return position;
}

Result<JournalPosition> TaskLedger::append_done(stream::Journal& journal, const TaskId& task) {
  OUTHAUL_TRY(position, journal.append(done_type, task.text()));
  finish(task);
  return position;
}

Result<JournalPosition> TaskLedger::append_start(stream::Journal& journal) {
  return append_life(journal, {life_.crashes + (life_.is_running ? 1 : 0), true});
}

Result<JournalPosition> TaskLedger::append_orderly_end(stream::Journal& journal) {
  return append_life(journal, {life_.crashes, false});
}

Result<JournalPosition> TaskLedger::append_life(stream::Journal& journal, Life life) {
  Bytes payload;
  stream::append_le(payload, life.crashes);
  payload.push_back(life.is_running ? 1 : 0);
  OUTHAUL_TRY(position, journal.append(life_type, payload));
  life_ = life;
  return position;
}

const TaskEntry* TaskLedger::find(const TaskId& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? nullptr : &found->second;
}

const TaskEntry* TaskLedger::find_by_stream(const StreamId& stream) const {
  const auto found = by_stream_.find(stream);
  return found == by_stream_.end() ? nullptr : find(found->second);
}

bool TaskLedger::is_done(const TaskId& task) const { return is_done_.contains(task); }

TaskEntry& TaskLedger::entry_of(const TaskId& task) {
  const auto found = tasks_.find(task);
  OUTHAUL_ASSERT(found != tasks_.end());
  return found->second;
}

void TaskLedger::add(TaskEntry entry) {
  const TaskId task = entry.spec.task_id;
  by_stream_[entry.spec.stream_id] = task;
  tasks_.insert_or_assign(task, std::move(entry));
}

void TaskLedger::finish(const TaskId& task) {
  const auto found = tasks_.find(task);
  if (found != tasks_.end()) {
    by_stream_.erase(found->second.spec.stream_id);
    tasks_.erase(found);
  }
  if (is_done_.insert(task).second) done_.push_back(task);
  if (done_.size() <= max_remembered) return;
  is_done_.erase(done_.front());
  done_.pop_front();
}

bool TaskLedger::owns(JournalType type) const { return gate_type <= type && type <= execution_type; }

Result<void> TaskLedger::replay(JournalType type, ByteView payload) {
  if (type == accept_type) return replay_accept(payload);
  if (type == admitted_type) return replay_admitted(payload);
  if (type == gate_type) return replay_gate(payload);
  if (type == execution_type) return replay_execution(payload);
  if (type == life_type) {
    if (payload.size() != 9) return damaged("life record");
    life_ = {stream::get_le<std::uint64_t>(payload.data()), payload[8] != 0};
    return {};
  }
  return replay_change(type, payload);
}

Result<void> TaskLedger::replay_gate(ByteView payload) {
  OUTHAUL_TRY(record, wire::parse_gate_record(payload));
  gate_.restore(record);
  return {};
}

Result<void> TaskLedger::replay_admitted(ByteView payload) {
  constexpr std::size_t size_bytes = sizeof(std::uint32_t);
  if (payload.size() < size_bytes) return damaged("admission record");
  const auto gate_bytes = stream::get_le<std::uint32_t>(payload.data());
  payload.remove_prefix(size_bytes);
  if (payload.size() < gate_bytes) return damaged("admission record");
  OUTHAUL_CHECK(replay_gate(payload.substr(0, gate_bytes)));
  return replay_accept(payload.substr(gate_bytes));
}

Result<void> TaskLedger::replay_accept(ByteView payload) {
  if (payload.size() <= accept_header_bytes) return damaged("accept record");
  TaskEntry entry;
  entry.phase = static_cast<TaskPhase>(payload[0]);
  OUTHAUL_TRY(incarnation, stream::Incarnation::parse(payload.substr(1, stream::Incarnation::size_bytes)));
  entry.incarnation = incarnation;
  entry.envelope = payload.substr(accept_header_bytes);
  OUTHAUL_TRY(envelope, wire::parse_envelope(entry.envelope));
  OUTHAUL_TRY(spec, wire::parse_task_spec(envelope.payload));
  entry.spec = std::move(spec);
  add(std::move(entry));
  return {};
}

Result<void> TaskLedger::replay_execution(ByteView payload) {
  constexpr std::size_t task_at = 8;
  constexpr std::size_t task_bytes = 31;
  constexpr std::size_t digest_at = task_at + task_bytes + 1;
  if (payload.size() < digest_at) return damaged("execution record");
  const auto digest_bytes = static_cast<std::uint8_t>(payload[digest_at - 1]);
  const auto task = TaskId::parse(payload.substr(task_at, task_bytes));
  if (!task || payload.size() < digest_at + digest_bytes) return damaged("execution record");
  const auto found = tasks_.find(*task);
  if (found == tasks_.end()) return damaged("the execution of an unknown task");
  found->second.execution = {{stream::get_le<std::int64_t>(payload.data())},
                             Bytes(payload.substr(digest_at + digest_bytes)),
                             Bytes(payload.substr(digest_at, digest_bytes))};
  return {};
}

Result<void> TaskLedger::replay_change(JournalType type, ByteView payload) {
  const std::size_t header = header_bytes_of(type);
  if (payload.size() < header) return damaged("short record");
  const auto task = TaskId::parse(payload.substr(header));
  if (!task) return damaged("task id");
  if (type == done_type) {
    finish(*task);
    if (OUTHAUL_FAULT("nonce_forgotten")) is_done_.erase(*task);
    return {};
  }
  const auto found = tasks_.find(*task);
  if (found == tasks_.end()) return damaged("a change of an unknown task");
  if (type == phase_type) found->second.phase = static_cast<TaskPhase>(payload[0]);
  if (type == reason_type) found->second.end_reason = static_cast<EndReason>(payload[0]);
  if (type == totals_type) {
    OUTHAUL_TRY(totals, decode_totals(payload.substr(0, header)));
    found->second.totals = totals;
  }
  return {};
}

Result<void> TaskLedger::write_live(stream::Journal& journal) {
  for (const auto& record : gate_.live_records()) {
    OUTHAUL_CHECK(journal.append(gate_type, wire::serialise_gate_record(record)));
  }
  for (const auto& [task, entry] : tasks_) {
    OUTHAUL_CHECK(journal.append(accept_type, encode_accept(entry)));
    if (entry.end_reason != EndReason::none) {
      OUTHAUL_CHECK(journal.append(reason_type, tagged(static_cast<std::uint8_t>(entry.end_reason), task)));
    }
    if (entry.execution.accepted_at != WallTime())
      OUTHAUL_CHECK(journal.append(execution_type, encode_execution(task, entry.execution)));
    if (entry.totals) OUTHAUL_CHECK(journal.append(totals_type, encode_totals(task, *entry.totals)));
  }
  for (const auto& task : done_) OUTHAUL_CHECK(journal.append(done_type, task.text()));
  OUTHAUL_CHECK(append_life(journal, life_));
  return {};
}

}  // namespace outhaul::node
