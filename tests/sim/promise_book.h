// PromiseBook: what hub and nodes have said to each other, and whether they keep it: what a node accepted or
// the hub holds durably is there after any crash, a result is durable on its node before it leaves, and one
// identity has one live session.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "tests/sim/stage.h"
#include "tests/sim/wire_watch.h"

namespace outhaul::sim {

// Where a crash is most likely to find a fault.
enum class Moment { task_sent, task_accepted, result_sent, stream_held, program_started };

struct HeldPosition {
  std::uint64_t offset = 0;
  bool is_complete = false;
  bool was_complete = false;  // also before a restore: its node may have forgotten it
};

class PromiseBook final : public WireListener {
 public:
  struct Eyes {
    // The node at the end of a path; empty for one that is not watched.
    std::function<NodeId(const std::string& path)> identity_of;
    std::function<bool(const std::string& path, ByteView record)> is_durable_on;
    std::function<void(Moment, const Place&)> on_moment;
    std::function<void(const TaskId&, const StreamId&)> on_task;
  };
  PromiseBook(const Stage& stage, Eyes eyes) : stage_(stage), eyes_(std::move(eyes)) {}

  // What the hub has ever said that it holds durably of a stream.
  HeldPosition held(const StreamId& stream) const;
  // The hub was restored from a backup: what it has said since is void, and its fences are others. Gives what
  // the nodes must still hold: accepted there, and never acknowledged to the end.
  std::map<TaskId, std::string> note_restore();

  // Genuine envelopes that the hub sent on this path, oldest first.
  const std::vector<Bytes>& envelopes(const std::string& path) { return envelopes_[path]; }

  // Tasks that the node at the end of a path has accepted.
  const std::set<TaskId>& accepted(const std::string& path) { return accepted_[path]; }

  // WireListener
  void on_heartbeat(const Place& place, testing::SimSide sender, const v1::Heartbeat& heartbeat) override;
  void on_hello(const Place& place, const v1::Hello& hello) override;
  void on_welcome(const Place& place, const v1::Welcome& welcome) override;
  void on_hub_activity(const Place& place) override;
  void on_envelope(const Place& place, const wire::TaskSpec& spec, const Bytes& envelope) override;
  void on_answer(const Place& place, const TaskId& task, std::optional<std::string> refusal) override;
  void on_held(const Place& place, const v1::StreamPosition& position) override;
  void on_result(const Place& place, const StreamId& stream, ByteView record) override;

 private:
  struct Session {
    std::uint64_t connection = 0;
    TimePoint began;
  };

  void note_head(const Place& place, testing::SimSide sender, const Bytes& head);

  Stage stage_;
  Eyes eyes_;
  std::map<TaskId, StreamId> streams_;
  std::map<std::string, std::set<TaskId>> accepted_;  // by path
  std::map<StreamId, HeldPosition> held_;
  std::map<NodeId, Session> sessions_;
  std::map<std::string, std::vector<Bytes>> envelopes_;
  std::uint64_t newest_epoch_ = 0;
  std::uint64_t void_epochs_ = 0;  // fences up to this were given before the last restore
};

}  // namespace outhaul::sim
