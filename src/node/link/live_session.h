// LiveSession: one welcomed session of a node with its hub, and everything that ends with it: the senders
// of streams, the feeders of standard input.
//   runs on  the node's strand
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "audit/head_exchange.h"
#include "base/task_group.h"
#include "node/link/stdin_feeder.h"
#include "node/link/stream_sender.h"
#include "node/tasks/task_runner.h"
#include "transport/tunnel.h"

namespace outhaul::node {

class LiveSession final : public transport::TunnelHandler {
 public:
  // All outlive the session.
  struct Ports {
    Executor executor;
    AsyncClock& clock;
    const Log& log;
    stream::StreamStore& streams;
    const TaskLedger& ledger;
    TaskRunner& runner;
    std::function<v1::Load()> load;
    std::function<void()> renew_certificate;  // the hub asks for it
    std::function<void(bool)> set_drain;  // the hub's administrator wants no new tasks here, or does again
    audit::AuditLog& audit;
    audit::HeadExchange& heads;
    const std::vector<crypto::TrustedKey>& hub_head_keys;
    std::string hub_log;  // the name of the hub's audit log
    ConsentDesk& consent;
    bool hub_may_answer;  // questions to the person here
  };
  LiveSession(const Ports& ports, transport::DialledTunnel dialled);

  // Gives the reason of the end; close() must follow.
  Task<Error> run();
  void say_goodbye(Error reason) { tunnel_.close(std::move(reason)); }
  Task<void> close();
  void follow(const StreamId& stream,
              StreamSender::Opening opening = StreamSender::Opening::with_first_bytes);

  void on_control(const v1::Control& message) override;
  void on_open(transport::IncomingChannel incoming) override;
  void on_heartbeat(const v1::Heartbeat& heartbeat) override;
  v1::Load load() override { return ports_.load(); }
  Bytes audit_head() override { return sent_head_.next(ports_.heads); }

 private:
  struct Sending {
    // Shared with its coroutines: the last of them may end after the stream is done with.
    std::shared_ptr<StreamSender> sender;
    bool is_sent = false;  // replicate() has ended
  };

  Task<void> announce_starts();
  void announce_running();
  Task<void> tell_questions();
  v1::Control make_questions() const;
  void take_answer(const v1::AnswerQuestion& answer);
  Task<void> send(StreamId stream);
  void drop_finished(const StreamId& stream);
  void take_positions(const google::protobuf::RepeatedPtrField<v1::StreamPosition>& positions);
  void take_acknowledgement(const v1::StreamPosition& position);

  const Ports& ports_;
  transport::Tunnel tunnel_;
  wire::WelcomeFacts facts_;
  std::map<StreamId, stream::StreamPosition> positions_;  // of Welcome
  TaskGroup group_;
  StreamSender::Ports sender_ports_;
  std::map<StreamId, Sending> senders_;
  StdinFeeder feeder_;
  std::set<TaskId> announced_;  // running, and the hub was told in this session
  audit::SentHead sent_head_;
};

}  // namespace outhaul::node
