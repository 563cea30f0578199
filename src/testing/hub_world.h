// HubWorld: a hub over fakes, with a clock that a test moves, and nodes that do what a test tells them. The
// hub can crash and boot again over what its database and disk held.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "crypto/statement.h"
#include "hub/accounts/principal.h"
#include "hub/hub.h"
#include "hub/tasks/task_service.h"
#include "store/memory_database.h"
#include "stream/memory_disk.h"
#include "testing/manual_clock.h"
#include "testing/memory_carrier.h"
#include "testing/seeded_random.h"
#include "transport/tunnel.h"
#include "wire/task_result.h"

namespace outhaul::testing {

// The identity that an enrolment gave.
struct EnrolledNode final : wire::HelloSigner {
  EnrolledNode(NodeId node, crypto::SigningKey signing_key, Bytes signing_certificate)
      : id(std::move(node)), key(std::move(signing_key)), certificate(std::move(signing_certificate)) {}
  Bytes sign_hello(ByteView nonce, ByteView spki) const override {
    return key.sign(crypto::hello_statement(nonce, spki));
  }
  const crypto::SigningKey& signing_key() const override { return key; }
  const Bytes& signing_certificate() const override { return certificate; }

  NodeId id;
  crypto::SigningKey key;
  Bytes certificate;
};

class HubWorld {
 public:
  static constexpr std::string_view deployment = "example.org";

  HubWorld();
  ~HubWorld();

  hub::Hub& hub();
  asio::io_context& io();
  store::MemoryDatabase& database();
  // What is durable in it.
  store::MemoryTables& tables() { return storage_.tables(); }
  stream::MemoryDisk& disk();
  stream::MemoryDiskImage& disk_image() { return image_; }
  ManualClock& clock() { return clock_; }
  Random& random() { return random_; }

  // The process dies where it stands; boot() makes the next one. Nodes must be attached anew.
  void crash();
  void boot();
  // A backup of the hub as it is; and its end, followed by one that was restored from the last backup.
  void back_up();
  void restore();

  // Runs a coroutine of the hub's process to its end; time moves when nothing else can.
  template <class T>
  T run(Task<T> task) {
    std::optional<T> value;
    start([&value, held = std::move(task)]() mutable -> Task<void> {
      value.emplace(co_await std::move(held));
    });
    run_until([&value] { return value.has_value(); });
    return std::move(*value);
  }
  // Starts a coroutine that ends with the process at the latest.
  void start(std::function<Task<void>()> body);
  template <class Body>
  void start(Body body) {
    group().spawn(std::move(body));
  }
  // Runs what is ready and moves time, by the next sleeper, until `is_done`; at most an hour.
  void run_until(const std::function<bool()>& is_done);
  // Lets `span` pass.
  void pass(Duration span);

  // The account and token that every world has.
  const hub::Principal& admin() const { return admin_; }
  const std::string& admin_token() const { return admin_token_; }
  hub::TaskOrder order(std::vector<std::string> argv) const;
  // A node, through the real enrolment.
  std::shared_ptr<EnrolledNode> enrol(const std::string& name);

 private:
  struct Life;
  TaskGroup& group();
  ManualClock clock_;
  SeededRandom random_{7};
  store::MemoryStorage storage_;
  stream::MemoryDiskImage image_;
  store::MemoryStorage saved_storage_;
  stream::MemoryDiskImage saved_image_;
  std::optional<crypto::CertificateAuthority> authority_;
  std::string authority_key_pem_;
  std::string signing_key_pem_;
  hub::Principal admin_;
  std::string admin_token_;
  std::unique_ptr<Life> life_;
};

// A node as a test wants it.
class ScriptNode final : private transport::TunnelHandler {
 public:
  enum class Answer {
    finish,  // accepts, and ends with exit code 0 after one line of output
    accept,  // accepts, and goes on until finish() is called
    refuse,  // with `refusal`
    silent,
  };
  // The world outlives it.
  ScriptNode(HubWorld& world, std::shared_ptr<EnrolledNode> identity);
  ~ScriptNode();

  Answer answer = Answer::finish;
  ErrorCode refusal = ErrorCode::node_full;
  std::uint32_t slots = 4;
  bool asks_user_signature = false;  // says so; looks at none
  std::string instance;              // ins_…; drawn anew by each restart()
  Bytes output = "hello\n";

  // Dials; true when it was welcomed, else failure() says why.
  bool attach();
  // As after a restart of the node's process: what it accepted and did not finish stays its own.
  void restart();
  void cut();
  // Nothing arrives any more, in either direction, and nobody is told.
  // Claims that the program of a task runs.
  void tell_running(const TaskId& task);
  void fall_silent() { link_->set_half_open(true); }
  bool is_attached() const { return tunnel_ != nullptr; }
  const std::optional<Error>& failure() const { return failure_; }

  // Every task envelope that came, in order; the same one may come twice.
  struct Arrival {
    wire::TaskSpec spec;
    Bytes envelope;
  };
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  // How often each task was started; never more than once for a node that keeps its word.
  std::size_t started(const TaskId& task) const;
  const std::vector<v1::Control>& controls() const { return controls_; }
  const v1::Welcome& welcome() const { return welcome_; }
  // Bytes of input streams, by stream.
  const std::map<StreamId, Bytes>& inputs() const { return inputs_; }
  bool has_acknowledgement(const StreamId& stream) const;

  // Ends an accepted task with this exit code.
  void finish(const TaskId& task, int exit_code = 0);
  // Forgets that it ever saw the task.
  void forget(const TaskId& task) { tasks_.erase(task); }
  // As if the acknowledgement of the task's stream had not reached its disk.
  void unacknowledge(const TaskId& task) { tasks_.at(task).is_acknowledged = false; }
  // Pretends to have accepted what was sent to another node.
  void claim(const Arrival& arrival);
  // Sends only the first bytes of the task's output, without an end.
  void begin_output(const TaskId& task, Bytes bytes);

 private:
  struct Known {
    wire::TaskSpec spec;
    Bytes envelope;
    Bytes records;  // encoded, whole
    bool is_complete = false;
    bool is_acknowledged = false;
  };
  void on_control(const v1::Control& message) override;
  void on_open(transport::IncomingChannel incoming) override;
  Task<void> live(std::unique_ptr<transport::Carrier> carrier);
  void take_task(transport::IncomingChannel incoming);
  Task<void> take_input(transport::IncomingChannel incoming);
  Task<void> send_stream(TaskId task, bool with_envelope);
  void add_record(Known& known, stream::RecordKind kind, ByteView payload);
  v1::Hello make_hello() const;

  HubWorld& world_;
  std::shared_ptr<EnrolledNode> identity_;  // a test may give one identity to two nodes
  transport::Tunnel* tunnel_ = nullptr;
  std::optional<MemoryLinkControl> link_;
  bool has_answer_ = false;
  std::optional<Error> failure_;
  v1::Welcome welcome_;
  std::map<TaskId, Known> tasks_;
  std::vector<Arrival> arrivals_;
  std::map<TaskId, std::size_t> started_;
  std::vector<v1::Control> controls_;
  std::map<StreamId, Bytes> inputs_;
};

}  // namespace outhaul::testing
