// ManagedTask: one program, from its spawn to the end of its tree. A state machine over its descriptors;
// the launcher's loop tells it what became readable, who ended and what time it is.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "launcher/cgroup.h"
#include "launcher/descriptor.h"
#include "launcher/protocol.h"
#include "launcher/ring.h"
#include "launcher/supervisor.h"

namespace outhaul::launcher {

// What all tasks share. Owned by the launcher; outlives them.
struct Surroundings {
  int epoll = -1;
  int null_input = -1;
  int supervisor_notice = -1;           // eventfd
  SupervisorReport* reports = nullptr;  // one a slot
  CgroupPool* cgroups = nullptr;
  rlimit open_files{};  // before the launcher raised its own
};

// Who an epoll event is for. The data of an event is slot * 8 + source.
enum class EventSource : std::uint32_t {
  listener,
  client,
  signals,
  supervisors,
  output,
  error_output,
  input
};
inline std::uint64_t event_key(std::uint32_t slot, EventSource source) {
  return std::uint64_t{slot} * 8 + static_cast<std::uint32_t>(source);
}

// The strings of a SpawnRequest, as execve() wants them.
struct SpawnStrings {
  const char* directory;
  char* const* arguments;
  char* const* environment;
};

class ManagedTask {
 public:
  ManagedTask(std::uint32_t slot, Surroundings& surroundings);

  // The outcome is in the snapshot: running, starting or failed.
  void start(const SpawnRequest& request, const SpawnStrings& strings, const HeldFiles& files);
  // The task runs or ran already, in another slot: this one is `failed` with EEXIST.
  void refuse(const SpawnRequest& request);

  // From the client.
  void send_signal(int signal);
  void end_tree(int signal, std::uint32_t grace_ms);
  void write_stdin(std::uint64_t offset, const char* bytes, std::size_t size);
  void close_stdin_at(std::uint64_t offset);
  void resume_reading();

  // From the loop.
  void on_readable(EventSource source);
  void on_writable();
  // A child of the launcher was reaped: the program, its supervisor, or an orphan (then nothing happens).
  void on_reaped(pid_t process, int wait_status, const rusage& usage);
  void on_supervisor_report();
  void on_tree_changed();
  void on_time(std::int64_t now);
  // When on_time() wants to be called; 0: never.
  std::int64_t next_deadline() const;

  const TaskSnapshot& snapshot() const { return snapshot_; }
  // A change that the client has not been told.
  bool is_dirty() const { return dirty_; }
  void set_dirty(bool dirty) { dirty_ = dirty; }
  // The ring that the client must be given; -1: none, or it has it.
  int ring_to_send() const { return ring_is_sent_ ? -1 : ring_.number(); }
  void set_ring_sent(bool sent) { ring_is_sent_ = sent; }
  bool is_over() const { return snapshot_.state == TaskState::ended || snapshot_.state == TaskState::failed; }

 private:
  static constexpr int outputs = 2;
  // What may still happen after the exit or an end request.
  struct Deadlines {
    std::int64_t kill_at = 0;     // SIGKILL to the tree
    std::int64_t abandon_at = 0;  // what even that does not end is left behind
  };

  struct OutputPipe {
    Descriptor end;
    bool is_watched = false;
    bool is_enlarged = false;
  };

  bool open_pipes(bool with_stdin, int (&child_ends)[3]);
  void spawn(const SpawnPlan& plan);
  void spawn_in_cgroup(const SpawnPlan& plan);
  void spawn_supervised(const SpawnPlan& plan);
  void take_outcome(const SpawnOutcome& outcome);
  void fail(SpawnStage stage, int error);
  void read_pipe(int index);
  void drain_pipe(int index);
  void drain_pipes();
  void watch(int index, bool wanted);
  void close_pipe(int index);
  bool prepare_ring(int index);
  bool open_ring();
  void take_chunk(int index, std::size_t length);
  void answer_stdin();
  void await_stdin_room();
  void close_stdin();
  void take_exit(const ExitFacts& facts);
  void finish_when_done();
  bool is_tree_empty() const;
  bool has_open_pipes() const { return pipes_[0].end.is_open() || pipes_[1].end.is_open(); }
  void list_tree(ProcessList& list) const;
  void signal_tree(int signal);
  void kill_tree();
  void name_holder();
  void abandon_rest(std::int64_t now);

  std::uint32_t slot_;
  Surroundings& around_;
  TaskSnapshot snapshot_{};
  OutputPipe pipes_[outputs];
  Descriptor input_;
  std::uint64_t input_end_ = UINT64_MAX;  // offset at which standard input is closed
  Descriptor ring_;
  RingMap map_;
  std::uint64_t output_bytes_ = 0;
  Cgroup cgroup_;
  pid_t supervisor_ = -1;
  std::int64_t started_ns_ = 0;
  std::int64_t pipe_grace_ns_ = 0;
  Deadlines deadlines_;
  bool leftovers_asked_ = false;  // what outlived the program was sent SIGTERM
  bool dirty_ = true;
  bool ring_is_sent_ = false;
};

}  // namespace outhaul::launcher
