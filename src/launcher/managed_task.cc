#include "launcher/managed_task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace outhaul::launcher {
namespace {

// A tree under SIGKILL is looked at again this often: its processes end in the kernel's own time.
constexpr std::int64_t kill_interval_ns = 20 * ns_per_ms;
// After this long under SIGKILL only processes in an uninterruptible wait are left.
constexpr std::int64_t abandon_after_ns = 2 * ns_per_s;
// A program that fills a whole default pipe at once is a bulk writer; more room halves its wake-ups.
constexpr int bulk_pipe_bytes = 256 * 1024;
// What waits in such a pipe goes into the ring in one turn, so that the node is woken once for all of it.
constexpr int bulk_reads = bulk_pipe_bytes / static_cast<int>(max_chunk_bytes);

OutputKind kind_of(int index) { return index == 0 ? OutputKind::out : OutputKind::err; }
EventSource source_of(int index) { return index == 0 ? EventSource::output : EventSource::error_output; }

std::int64_t earlier(std::int64_t a, std::int64_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

}  // namespace

ManagedTask::ManagedTask(std::uint32_t slot, Surroundings& surroundings)
    : slot_(slot), around_(surroundings) {
  snapshot_.header = {PacketKind::snapshot, protocol_version, sizeof(TaskSnapshot), slot, 0};
}

void ManagedTask::start(const SpawnRequest& request, const SpawnStrings& strings, const HeldFiles& files) {
  memcpy(snapshot_.task_id, request.task_id, sizeof snapshot_.task_id);
  pipe_grace_ns_ = std::int64_t{request.pipe_grace_ms} * ns_per_ms;
  int child_ends[3] = {-1, -1, -1};
  if (open_pipes((request.flags & spawn_with_stdin) != 0, child_ends)) {
    spawn({strings.directory,
           strings.arguments,
           strings.environment,
           {child_ends[0], child_ends[1], child_ends[2]},
           -1,
           request.nice,
           request.limits,
           request.limit_count,
           around_.open_files,
           &files,
           request.flags});
  } else {
    fail(SpawnStage::resources, errno);
  }
  for (const int end : child_ends) {
    if (end >= 0 && end != around_.null_input) close(end);
  }
}

void ManagedTask::refuse(const SpawnRequest& request) {
  memcpy(snapshot_.task_id, request.task_id, sizeof snapshot_.task_id);
  fail(SpawnStage::resources, EEXIST);
}

void ManagedTask::spawn(const SpawnPlan& plan) {
  started_ns_ = now_ns();
  snapshot_.started_at_ns = wall_ns();
  if (around_.cgroups->is_open()) {
    spawn_in_cgroup(plan);
  } else {
    spawn_supervised(plan);
  }
}

// child_ends: what the program gets as 0, 1 and 2. Ours do not block.
bool ManagedTask::open_pipes(bool with_stdin, int (&child_ends)[3]) {
  int ends[2];
  for (int i = 0; i < outputs; ++i) {
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    pipes_[i].end = Descriptor(ends[0]);
    child_ends[i + 1] = ends[1];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    watch(i, true);
  }
  child_ends[0] = around_.null_input;
  snapshot_.stdin_closed = 1;
  if (!with_stdin) return true;
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  child_ends[0] = ends[0];
  input_ = Descriptor(ends[1]);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  snapshot_.stdin_closed = 0;
  return true;
}

void ManagedTask::spawn_in_cgroup(const SpawnPlan& plan) {
  cgroup_ = around_.cgroups->take();
  if (!cgroup_.is_open()) return fail(SpawnStage::resources, errno);
  SpawnPlan placed = plan;
  placed.cgroup = cgroup_.directory();
  take_outcome(spawn_program(placed));
}

void ManagedTask::spawn_supervised(const SpawnPlan& plan) {
  snapshot_.state = TaskState::starting;
  supervisor_ = start_supervisor(plan, around_.reports[slot_], around_.supervisor_notice);
  if (supervisor_ < 0) fail(SpawnStage::resources, errno);
}

void ManagedTask::take_outcome(const SpawnOutcome& outcome) {
  if (outcome.process < 0) return fail(outcome.stage, outcome.error);
  snapshot_.process_id = outcome.process;
  snapshot_.state = TaskState::running;
  dirty_ = true;
}

void ManagedTask::fail(SpawnStage stage, int error) {
  snapshot_.state = TaskState::failed;
  snapshot_.spawn_stage = stage;
  snapshot_.spawn_error = error;
  for (int i = 0; i < outputs; ++i) close_pipe(i);
  close_stdin();
  around_.cgroups->give_back(std::move(cgroup_));
  deadlines_ = {};
  dirty_ = true;
}

void ManagedTask::send_signal(int signal) {
  // Only we reap it (or its supervisor does), so while it runs its number belongs to nobody else.
  if (snapshot_.state == TaskState::running) kill(snapshot_.process_id, signal);
}

void ManagedTask::end_tree(int signal, std::uint32_t grace_ms) {
  if (is_over()) return;
  signal_tree(signal);
  deadlines_.kill_at = earlier(deadlines_.kill_at, now_ns() + std::int64_t{grace_ms} * ns_per_ms);
}

// Answered at once when nothing is left over, else when the pipe has room again.
void ManagedTask::write_stdin(std::uint64_t offset, const char* bytes, std::size_t size) {
  std::uint64_t& applied = snapshot_.stdin_applied;
  if (input_.is_open() && offset <= applied && offset + size > applied) {
    const std::size_t skipped = applied - offset;
    const ssize_t written = write(input_.number(), bytes + skipped, size - skipped);
    if (written > 0) applied += static_cast<std::uint64_t>(written);
    const bool is_refused = written < 0 && errno != EAGAIN;
    if (is_refused || applied >= input_end_) close_stdin();
    if (input_.is_open() && applied < offset + size) return await_stdin_room();
  }
  answer_stdin();
}

void ManagedTask::answer_stdin() {
  ++snapshot_.stdin_answers;
  dirty_ = true;
}

void ManagedTask::await_stdin_room() {
  epoll_event event{.events = EPOLLOUT | EPOLLONESHOT, .data = {.u64 = event_key(slot_, EventSource::input)}};
  if (epoll_ctl(around_.epoll, EPOLL_CTL_ADD, input_.number(), &event) != 0) {
    epoll_ctl(around_.epoll, EPOLL_CTL_MOD, input_.number(), &event);
  }
}

void ManagedTask::close_stdin_at(std::uint64_t offset) {
  input_end_ = offset;
  if (snapshot_.stdin_applied >= offset) close_stdin();
}

void ManagedTask::close_stdin() {
  input_.reset();
  snapshot_.stdin_closed = 1;
  dirty_ = true;
}

void ManagedTask::on_writable() { answer_stdin(); }

void ManagedTask::watch(int index, bool wanted) {
  OutputPipe& pipe = pipes_[index];
  if (pipe.is_watched == wanted) return;
  pipe.is_watched = wanted;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = event_key(slot_, source_of(index))}};
  epoll_ctl(around_.epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, pipe.end.number(), &event);
}

void ManagedTask::close_pipe(int index) {
  if (pipes_[index].end.is_open()) watch(index, false);
  pipes_[index].end.reset();
}

void ManagedTask::on_readable(EventSource source) {
  const int index = source == EventSource::output ? 0 : 1;
  int reads_left = pipes_[index].is_enlarged ? bulk_reads : 1;
  for (; reads_left > 0 && pipes_[index].end.is_open(); --reads_left) {
    const std::uint64_t before = output_bytes_;
    read_pipe(index);
    if (output_bytes_ - before < max_chunk_bytes) break;
  }
  if (!pipes_[index].end.is_open()) finish_when_done();
}

void ManagedTask::resume_reading() {
  for (int i = 0; i < outputs; ++i) {
    if (pipes_[i].end.is_open()) watch(i, true);
  }
  if (snapshot_.state != TaskState::exited) return;
  drain_pipes();
  finish_when_done();
}

// Made with the first byte of output: most tasks of a machine print little, many nothing.
bool ManagedTask::open_ring() {
  if (map_.is_open()) return true;
  ring_ = Descriptor(RingMap::make());
  if (ring_.is_open()) map_ = RingMap::map(ring_.number());
  if (!map_.is_open()) return false;
  snapshot_.has_ring = 1;
  dirty_ = true;
  return true;
}

// Before the first byte. End of file is all that many tasks say: it must not cost a ring.
bool ManagedTask::prepare_ring(int index) {
  pollfd state{.fd = pipes_[index].end.number(), .events = POLLIN, .revents = 0};
  if (poll(&state, 1, 0) != 1) return false;
  if ((state.revents & POLLIN) == 0) {
    close_pipe(index);
    return false;
  }
  if (open_ring()) return true;
  // Without memory for a ring the program waits, as it does for a full one.
  watch(index, false);
  return false;
}

// One read: on_readable() decides how many, so that no pipe keeps the others waiting.
void ManagedTask::read_pipe(int index) {
  const OutputPipe& pipe = pipes_[index];
  if (!pipe.end.is_open()) return;
  if (!map_.is_open() && !prepare_ring(index)) return;
  RingWriter writer(map_);
  const std::size_t room = writer.reserve();
  if (room == 0) return watch(index, false);
  const ssize_t got = read(pipe.end.number(), writer.room(), room);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return close_pipe(index);
  take_chunk(index, static_cast<std::size_t>(got));
}

void ManagedTask::take_chunk(int index, std::size_t length) {
  RingWriter writer(map_);
  if (writer.commit(kind_of(index), length, output_bytes_, wall_ns())) dirty_ = true;
  output_bytes_ += length;
  if (length == max_chunk_bytes && !std::exchange(pipes_[index].is_enlarged, true)) {
    fcntl(pipes_[index].end.number(), F_SETPIPE_SZ, bulk_pipe_bytes);
  }
}

// Until it is at its end, empty for now, or the ring is full.
void ManagedTask::drain_pipe(int index) {
  for (std::uint64_t before = UINT64_MAX; pipes_[index].end.is_open() && before != output_bytes_;) {
    before = output_bytes_;
    read_pipe(index);
  }
}

void ManagedTask::drain_pipes() {
  for (int i = 0; i < outputs; ++i) drain_pipe(i);
}

void ManagedTask::on_reaped(pid_t process, int wait_status, const rusage& usage) {
  if (process == supervisor_) {
    supervisor_ = 0;
    on_supervisor_report();
    // Killed by its own task, it reported no exit; what it held together is then our child.
    if (snapshot_.state == TaskState::starting) fail(SpawnStage::resources, ECHILD);
    return finish_when_done();
  }
  if (process == snapshot_.process_id && snapshot_.state == TaskState::running) {
    take_exit(make_exit_facts(wait_status, usage));
  }
}

void ManagedTask::on_supervisor_report() {
  if (!around_.reports || supervisor_ == -1) return;
  const SupervisorReport& report = around_.reports[slot_];
  const SupervisorPhase phase = report.phase.load();
  if (phase != SupervisorPhase::forked && snapshot_.state == TaskState::starting) {
    started_ns_ = report.started_ns;
    snapshot_.started_at_ns = report.started_at_ns;
    take_outcome(report.outcome);
  }
  if (phase == SupervisorPhase::exited && snapshot_.state == TaskState::running) take_exit(report.exit);
}

void ManagedTask::take_exit(const ExitFacts& facts) {
  snapshot_.state = TaskState::exited;
  snapshot_.wait_status = facts.wait_status;
  snapshot_.ended_at_ns = facts.ended_at_ns;
  snapshot_.duration_ns = facts.ended_ns - started_ns_;
  snapshot_.user_cpu_ns = facts.user_cpu_ns;
  snapshot_.system_cpu_ns = facts.system_cpu_ns;
  snapshot_.max_rss_bytes = facts.max_rss_bytes;
  dirty_ = true;
  deadlines_.kill_at = earlier(deadlines_.kill_at, now_ns() + pipe_grace_ns_);
  deadlines_.abandon_at = 0;
  drain_pipes();
  finish_when_done();
}

void ManagedTask::on_tree_changed() {
  if (snapshot_.state == TaskState::exited) finish_when_done();
}

void ManagedTask::finish_when_done() {
  if (snapshot_.state != TaskState::exited || has_open_pipes()) return;
  if (!is_tree_empty()) {
    // Nobody can say anything more, so nobody is waited for: leftovers are asked, later made, to end.
    if (!std::exchange(leftovers_asked_, true)) signal_tree(SIGTERM);
    return;
  }
  snapshot_.state = TaskState::ended;
  close_stdin();
  around_.cgroups->give_back(std::move(cgroup_));
  deadlines_ = {};
  dirty_ = true;
}

bool ManagedTask::is_tree_empty() const { return cgroup_.is_open() ? cgroup_.is_empty() : supervisor_ <= 0; }

void ManagedTask::list_tree(ProcessList& list) const {
  if (cgroup_.is_open()) {
    cgroup_.list(list);
  } else if (supervisor_ > 0) {
    list_descendants(supervisor_, list);
  }
}

void ManagedTask::signal_tree(int signal) {
  static ProcessList list;
  list.count = 0;
  list_tree(list);
  signal_all(list, signal);
  // A stopped program does not see it before it goes on.
  if (signal != SIGKILL) signal_all(list, SIGCONT);
  // The most at one time and not the sum: whoever ignored the first signal meets the second.
  const auto count = static_cast<std::uint32_t>(list.count);
  if (count > snapshot_.processes_killed) snapshot_.processes_killed = count;
  dirty_ = true;
}

void ManagedTask::kill_tree() {
  signal_tree(SIGKILL);
  if (cgroup_.is_open()) cgroup_.kill();
}

void ManagedTask::name_holder() {
  static ProcessList list;
  list.count = 0;
  list_tree(list);
  for (int i = 0; i < outputs && snapshot_.pipe_holder[0] == '\0'; ++i) {
    if (!pipes_[i].end.is_open()) continue;
    name_pipe_holder(list, pipes_[i].end.number(), snapshot_.pipe_holder, sizeof snapshot_.pipe_holder);
  }
}

std::int64_t ManagedTask::next_deadline() const { return earlier(deadlines_.kill_at, deadlines_.abandon_at); }

void ManagedTask::on_time(std::int64_t now) {
  if (deadlines_.kill_at != 0 && now >= deadlines_.kill_at) {
    if (snapshot_.state == TaskState::exited) name_holder();
    kill_tree();
    deadlines_.kill_at = is_tree_empty() ? 0 : now + kill_interval_ns;
    if (deadlines_.abandon_at == 0) deadlines_.abandon_at = now + abandon_after_ns;
    drain_pipes();
    finish_when_done();
  }
  if (deadlines_.abandon_at != 0 && now >= deadlines_.abandon_at) abandon_rest(now);
}

// SIGKILL did not end it (an uninterruptible wait), or a pipe is held from outside the tree. Bytes that
// were written are still read, as far as the ring has room; the rest is tried again.
void ManagedTask::abandon_rest(std::int64_t now) {
  deadlines_.abandon_at = now + abandon_after_ns;
  if (snapshot_.state != TaskState::exited) return;
  for (int i = 0; i < outputs; ++i) {
    drain_pipe(i);
    const bool waits_for_room = pipes_[i].end.is_open() && !pipes_[i].is_watched;
    if (!waits_for_room) close_pipe(i);
  }
  if (has_open_pipes()) return;
  cgroup_ = Cgroup();
  if (supervisor_ > 0) supervisor_ = 0;
  finish_when_done();
}

}  // namespace outhaul::launcher
