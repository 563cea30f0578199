// TaskGate: decides on a node whether a signed task may start. Pure: it is handed bytes and times, and
// hands back what to persist before anything is answered.
//
// The order of checks, first failure ends: size, signature and key, audience, the person's signature where
// the node asks for it, times, nonce, the person's nonce, owner, fence, policy, consent, capacity. A task
// passes the nonce check once: from then on its nonce is used, whatever the later checks say, except that a
// full disk, on which nothing can be noted, leaves it unused. A task that was refused may come again under a
// fresh nonce (decisions/0037).
//
// A task that is known (same nonce or same task id) is answered task_replayed with the first run's state,
// also after its time window has closed: that answer starts nothing, and the hub needs it when it was away
// for longer than the window (decisions/0010).
//
// Time is the node's wall clock corrected by the offset that the session measured, bounded to
// max_clock_correction either way. The mark is the latest issue time that passed; it only rises, is
// persisted with every record, and an envelope issued before mark - clock_window is refused, so nonces
// older than that can be forgotten whatever any clock says. A person's nonce is kept until the mark is past
// the end of what was signed, and an order that ended before the mark is refused: the same promise.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "crypto/envelope.h"
#include "wire/task_spec.h"
#include "wire/user_order.h"

namespace outhaul::wire {

inline constexpr std::chrono::nanoseconds clock_window = std::chrono::minutes(5);
inline constexpr std::chrono::nanoseconds max_clock_correction = std::chrono::hours(1);

// The node owner's say in what runs; one method a check, called in this order. Each gives the refusal:
// task_owner_unknown, task_policy_refused or isolation_unavailable, denied, node_full or node_disk_full.
class TaskRules {
 public:
  virtual ~TaskRules() = default;
  virtual Result<void> check_owner(const TaskSpec& spec) const = 0;
  virtual Result<void> check_policy(const TaskSpec& spec) const = 0;
  virtual Result<void> check_consent(const TaskSpec& spec) const = 0;
  virtual Result<void> check_capacity(const TaskSpec& spec) const = 0;
};

// Of the order of a person.
struct UserNonce {
  Bytes nonce;
  WallTime expires_at;
  bool operator==(const UserNonce&) const = default;
};

// What the node journals for each task whose nonce it used, before it answers.
struct GateRecord {
  TaskId task_id;
  Bytes nonce;
  WallTime issued_at;
  WallTime mark;                  // after this task
  std::uint64_t fence_epoch = 0;  // highest seen, this task included
  StreamId stream_id;
  std::optional<ErrorCode> refused;  // by a check after the nonce; else it was accepted
  std::optional<UserNonce> user =
      {};  // where the node asks for a person's signature; used by an accepted task
  bool operator==(const GateRecord&) const = default;
};
Bytes serialise_gate_record(const GateRecord& record);
// Fails with journal_corrupt: the record was written by this program.
Result<GateRecord> parse_gate_record(ByteView serialised);

// The two readings that a decision depends on.
struct GateTime {
  WallTime wall;                                       // the node's clock now
  std::optional<std::chrono::nanoseconds> hub_offset;  // hub minus node, as measured; none = never measured
};
// The wall time after the bounded correction.
WallTime corrected(const GateTime& time);

// A decision. When `record` is set it must be durable before anyone learns of the decision, and commit()
// was already applied to the gate.
struct GateDecision {
  std::optional<TaskSpec> admitted;
  std::optional<GateRecord> record;
  // Set when nothing is admitted. task_replayed has details {task, state, stream}, and refused_with when the
  // first answer was a refusal.
  std::optional<Error> refusal;
  std::optional<KeyId> user_key = {};  // of the person who has signed what was admitted
};

struct GateConfig {
  NodeId self;
  std::string issuer;     // the deployment; tasks of another are refused with task_audience_mismatch
  std::string name = {};  // of the node, as its owner enrolled it; empty: not compared with orders
  // Set: a task runs only when one of these has signed it, whatever the hub signs.
  std::optional<std::vector<TrustedUser>> users = {};
};

class TaskGate {
 public:
  // The state of a run that the node still knows, for task_replayed: "accepted", "starting", "running", ...
  // Empty when the node no longer knows the task.
  using FindState = std::function<std::optional<std::string>(const TaskId&)>;

  // `rules` and what `find_state` refers to outlive the gate.
  TaskGate(GateConfig config, const TaskRules& rules, FindState find_state);

  // Keys of Welcome or enrolment; replaces those before.
  void trust(std::vector<crypto::TrustedKey> keys) { keys_ = std::move(keys); }
  // Records from the journal, in any order.
  void restore(const GateRecord& record);

  GateDecision judge(ByteView envelope, const GateTime& time);

  // What a new journal must keep: every record that restore() would need.
  std::vector<GateRecord> live_records() const;
  WallTime mark() const { return mark_; }
  std::uint64_t fence_epoch() const { return fence_epoch_; }

 private:
  // What is known of an envelope once everybody's signature held.
  struct Opened {
    TaskSpec spec;
    std::optional<SignedOrder> order;
  };
  Result<Opened> open(ByteView envelope) const;
  Result<SignedOrder> open_order(const TaskSpec& spec) const;
  Result<void> check_times(const Opened& task, const GateTime& time) const;
  Result<void> check_order(const UserOrder& order, const GateTime& time) const;
  Result<void> check_rules(const TaskSpec& spec) const;
  std::optional<Error> find_replay(const TaskSpec& spec) const;
  const GateRecord* find_record(const TaskSpec& spec) const;
  GateRecord consume(const Opened& task, std::optional<ErrorCode> refused);
  void remember(const GateRecord& record);
  void prune();

  GateConfig config_;
  const TaskRules& rules_;
  FindState find_state_;
  std::vector<crypto::TrustedKey> keys_;
  WallTime mark_;
  std::uint64_t fence_epoch_ = 0;
  // By nonce. Those that the mark alone refuses are gone.
  std::map<Bytes, GateRecord> records_;
  // Nonces of the same records.
  std::map<TaskId, Bytes> by_task_;
  std::map<Bytes, Bytes> by_user_nonce_;   // of those that were accepted
  std::multimap<WallTime, Bytes> by_end_;  // until when each is needed
};

}  // namespace outhaul::wire
