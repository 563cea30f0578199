// SimClient: people who submit tasks, feed them, cancel some, and follow them to the end, through every crash
// of the hub. It remembers all that it was told, and complains when the hub later says otherwise.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "hub/tasks/task_service.h"
#include "tests/sim/output_check.h"
#include "tests/sim/sim_hub.h"

namespace outhaul::sim {

// One order and what became of it.
struct Errand {
  // The plan.
  TimePoint when;
  hub::TaskOrder order;
  std::optional<std::string> key;        // idempotency
  bool is_repeated = false;              // sent a second time under its key, later
  std::optional<Duration> cancel_after;  // from the acknowledgement
  Bytes input;                           // of a task with standard input

  // What is known.
  bool was_sent = false;
  bool is_refused = false;
  std::optional<hub::Submission> acknowledged;
  std::optional<TimePoint> acknowledged_at;
  bool is_cancel_sent = false;
  bool is_input_sent = false;
  std::optional<OutputCheck> output;
  std::optional<store::TaskRow> shown;  // the final row, as it was first told

  // An order without a key whose answer was lost cannot be asked for again.
  bool is_given_up() const { return is_refused || (was_sent && !acknowledged && !key); }
  bool is_done() const { return is_given_up() || shown.has_value(); }
};

class SimClient {
 public:
  SimClient(const Stage& stage, std::uint64_t seed) : stage_(stage), random_(seed) {}

  void plan(Errand errand) { errands_.push_back(std::move(errand)); }
  const std::deque<Errand>& errands() const { return errands_; }
  // A hub serves: goes on with everything, as children of its life.
  void attend(const HubLife& life);
  // The hub that is about to serve has these rows: what was promised after them is void.
  void note_restore(const store::MemoryTables& saved);
  // From now on, tasks that nobody waits for are cancelled: an order whose answer was lost may have become
  // one, and may wait for input that nobody will send.
  void tidy_up() { is_tidying_ = true; }
  // Everything was acknowledged and ended, or refused.
  bool is_done() const;
  // All that was ever shown, output included, read again; `is_checked` is set at the end.
  Task<void> audit_everything(HubLife life, bool& is_checked);

 private:
  Task<void> run(Errand& errand, HubLife life);
  Task<bool> submit(Errand& errand, HubLife life);
  Task<void> repeat(Errand& errand, HubLife life);
  Task<void> cancel(Errand& errand, HubLife life);
  Task<void> feed(Errand& errand, HubLife life);
  Task<void> follow(Errand& errand, HubLife life);
  Task<void> follow_again(Errand& errand, HubLife life);
  Task<void> learn_end(Errand& errand, HubLife life);
  Task<void> audit_now_and_then(HubLife life);
  Task<void> cancel_strays(HubLife life);
  Task<void> audit_row(Errand& errand, HubLife life);
  Task<void> audit_output(Errand& errand, HubLife life);
  void acknowledge(Errand& errand, const hub::Submission& submission);
  void take_end(Errand& errand, const store::TaskRow& row);

  Stage stage_;
  testing::SeededRandom random_;
  // Never shrinks: coroutines hold references.
  std::deque<Errand> errands_;
  bool is_tidying_ = false;
};

}  // namespace outhaul::sim
