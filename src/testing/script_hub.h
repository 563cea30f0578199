// ScriptHub: the hub's end of one node's tunnel, as small as a test of the node needs: it admits, signs and
// dispatches tasks, keeps the streams it is sent, and acknowledges them when told to.
//   runs on  the strand of its executor
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/task_group.h"
#include "node/carrier_dialer.h"
#include "stream/position.h"
#include "stream/record.h"
#include "stream/replication.h"
#include "testing/memory_carrier.h"
#include "testing/test_keys.h"
#include "transport/tunnel.h"
#include "wire/task_result.h"
#include "wire/task_spec.h"

namespace outhaul::testing {

class ScriptHub final : public node::CarrierDialer,
                        public transport::TunnelAdmission,
                        public transport::TunnelHandler {
 public:
  // What it holds of one output stream.
  struct Held {
    stream::Incarnation incarnation;
    stream::StreamPosition position;
    Bytes out;
    Bytes err;
    Bytes events;
    std::optional<wire::TaskResult> result;
    bool was_shown_envelope = false;
  };

  // All outlive it.
  ScriptHub(Executor executor, AsyncClock& clock, TestDeployment& deployment, const TestNodeKeys& node);

  // A task for the node with everything filled in but the action; issued now.
  wire::TaskSpec make_task();
  Bytes sign(const wire::TaskSpec& spec);
  std::vector<crypto::TrustedKey> keys() const;
  // Opens the task channel; the answer stands in answers() once it is there.
  void dispatch(const wire::TaskSpec& spec, Bytes envelope);
  void dispatch(const wire::TaskSpec& spec) { dispatch(spec, sign(spec)); }
  void cancel(const TaskId& task);
  // In the name of some account.
  void answer_question(const TaskId& task, const std::string& answer);
  // As the node said last.
  const v1::Questions& questions() const { return questions_; }
  // Writes standard input of a task, from where the node says it stands.
  void write_stdin(const StreamId& stream, Bytes bytes, bool is_end);

  const std::map<TaskId, Result<v1::Accept>>& answers() const { return answers_; }
  const Held* find(const StreamId& stream) const;
  const std::map<StreamId, Held>& streams() const { return held_; }
  // How often the node said that the program of a task runs.
  std::size_t times_told_running(const TaskId& task) const { return told_running_.count(task); }
  std::uint64_t stdin_acknowledged(const StreamId& stream) const;
  bool is_attached() const { return tunnel_ != nullptr; }
  const v1::Hello& last_hello() const { return last_hello_; }

  // Behaviour, at any time.
  bool is_away = false;              // dials fail
  bool acknowledges = true;          // says that it holds what it holds
  bool forgets_streams = false;      // answers stream_unknown until it sees an envelope
  std::optional<ErrorCode> refuses;  // every session
  // Ends the session with this reason, and refuses every other.
  void turn_away(ErrorCode reason);
  void cut();
  // As cut(), and everything held is gone.
  void lose_everything();
  Task<void> close();

  Task<Result<std::unique_ptr<transport::Carrier>>> dial() override;
  Task<Result<v1::Welcome>> admit(const wire::HelloFacts& facts, const transport::CarrierPeer& peer) override;
  void abandon(const wire::HelloFacts&, const v1::Welcome&) override {}
  void on_control(const v1::Control& message) override;
  void on_open(transport::IncomingChannel incoming) override;

 private:
  Task<void> serve(std::unique_ptr<transport::Carrier> carrier);
  Task<void> await_answer(TaskId task, wire::ChannelTarget target, v1::Open open);
  Task<void> keep(transport::IncomingChannel incoming);
  Task<void> feed(StreamId stream, Bytes bytes, bool is_end);
  void take(Held& held, const stream::EncodedRecord& record);
  void acknowledge(const StreamId& stream, const Held& held);

  Executor executor_;
  AsyncClock& clock_;
  TestDeployment& deployment_;
  NodeId node_;
  KeyId key_id_;
  crypto::SigningKey key_;
  transport::Tunnel* tunnel_ = nullptr;  // of the session that was admitted last; lives in serve()
  std::optional<MemoryLinkControl> link_;
  std::map<TaskId, Result<v1::Accept>> answers_;
  std::map<StreamId, Held> held_;
  std::multiset<TaskId> told_running_;
  std::map<StreamId, std::uint64_t> stdin_acknowledged_;
  v1::Questions questions_;
  v1::Hello last_hello_;
  TaskGroup group_;
};

}  // namespace outhaul::testing
