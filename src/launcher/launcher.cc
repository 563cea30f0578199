#include "launcher/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "launcher/spawn_strings.h"

namespace outhaul::launcher {
namespace {

constexpr int max_events = 64;
// A node that started us and died before it connected must not leave us behind for ever.
constexpr std::int64_t first_client_within_ns = 10 * ns_per_s;

template <class Request>
const Request* as(const PacketHeader& packet) {
  return packet.bytes >= sizeof(Request) ? reinterpret_cast<const Request*>(&packet) : nullptr;
}

// Every signal at its default, SIGPIPE ignored, SIGCHLD as a descriptor.
int open_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_SETMASK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// A task has up to six descriptors here. Programs get back what we had before.
rlimit raise_open_files() {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit all{before.rlim_max, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &all);
  return before;
}

SupervisorReport* map_reports() {
  void* memory = mmap(nullptr, max_tasks * sizeof(SupervisorReport), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SupervisorReport*>(memory);
}

// Kills what a killed launcher of the same data directory has left, until it is gone: a kill takes effect
// when its process next runs. Nothing found counts only when it is so twice: a process may fork or execute
// while it is looked at.
void wait_until_marked_are_gone(const char* tag) {
  constexpr timespec pause{0, 2'000'000};
  char marker[128];
  snprintf(marker, sizeof marker, "%s=%s", marker_variable, tag);
  static ProcessList list;
  int clean_looks = 0;
  for (int round = 0; round < 500 && clean_looks < 2; ++round) {
    list.count = 0;
    list_marked(marker, list);
    clean_looks = list.count == 0 ? clean_looks + 1 : 0;
    signal_all(list, SIGKILL);
    if (clean_looks < 2) nanosleep(&pause, nullptr);
  }
}

}  // namespace

TaskTable::~TaskTable() {
  for (std::uint32_t slot = 0; slot < end_; ++slot) drop(slot);
}

ManagedTask* TaskTable::find(std::uint32_t slot) {
  return used_[slot] ? std::launder(reinterpret_cast<ManagedTask*>(places_[slot])) : nullptr;
}

ManagedTask* TaskTable::find_task(const char* task_id) {
  ManagedTask* found = nullptr;
  for_each([&](ManagedTask& task) {
    if (strncmp(task.snapshot().task_id, task_id, task_id_bytes) == 0) found = &task;
  });
  return found;
}

ManagedTask& TaskTable::make(std::uint32_t slot, Surroundings& surroundings) {
  used_[slot] = true;
  ++count_;
  if (slot >= end_) end_ = slot + 1;
  return *new (places_[slot]) ManagedTask(slot, surroundings);
}

void TaskTable::drop(std::uint32_t slot) {
  ManagedTask* task = find(slot);
  if (task == nullptr) return;
  task->~ManagedTask();
  used_[slot] = false;
  --count_;
}

int Launcher::run(int listener, const char* tag, bool use_cgroups) {
  listener_ = listener;
  if (!prepare(tag, use_cgroups)) return 1;
  epoll_event events[max_events];
  const std::int64_t give_up_at = now_ns() + first_client_within_ns;
  while (had_client_ ? client_.is_open() || !tasks_.is_empty() : now_ns() < give_up_at) {
    const int count = epoll_wait(around_.epoll, events, max_events, wait_ms());
    for (int i = 0; i < count; ++i) serve_event(events[i].data.u64);
    run_deadlines();
    flush();
  }
  cgroups_.close();
  return 0;
}

bool Launcher::prepare(const char* tag, bool use_cgroups) {
  around_.open_files = raise_open_files();
  around_.epoll = epoll_create1(EPOLL_CLOEXEC);
  around_.null_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  around_.supervisor_notice = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  around_.reports = map_reports();
  around_.cgroups = &cgroups_;
  signals_ = open_signals();
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (around_.epoll < 0 || around_.null_input < 0 || around_.supervisor_notice < 0 ||
      around_.reports == nullptr || signals_ < 0) {
    return false;
  }
  wait_until_marked_are_gone(tag);
  if (use_cgroups) cgroups_.open(tag);
  fcntl(listener_, F_SETFL, O_NONBLOCK);
  fcntl(listener_, F_SETFD, FD_CLOEXEC);
  watch(listener_, EventSource::listener, EPOLLIN);
  watch(signals_, EventSource::signals, EPOLLIN);
  watch(around_.supervisor_notice, EventSource::supervisors, EPOLLIN);
  return true;
}

void Launcher::watch(int descriptor, EventSource source, std::uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = event_key(0, source)}};
  if (epoll_ctl(around_.epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    epoll_ctl(around_.epoll, EPOLL_CTL_MOD, descriptor, &event);
  }
}

void Launcher::serve_event(std::uint64_t key) {
  const auto source = static_cast<EventSource>(key % 8);
  const auto slot = static_cast<std::uint32_t>(key / 8);
  ManagedTask* task = tasks_.find(slot);
  switch (source) {
    case EventSource::listener: return accept_client();
    case EventSource::client: return serve_client();
    case EventSource::signals: return reap();
    case EventSource::supervisors: {
      std::uint64_t count = 0;
      if (read(around_.supervisor_notice, &count, sizeof count) < 0) return;
      return tasks_.for_each([](ManagedTask& each) { each.on_supervisor_report(); });
    }
    // A task may have been forgotten by an earlier event of the same round.
    case EventSource::output:
    case EventSource::error_output:
      if (task != nullptr) task->on_readable(source);
      return;
    case EventSource::input:
      if (task != nullptr) task->on_writable();
      return;
  }
}

void Launcher::accept_client() {
  if (!client_.accept_from(listener_)) return;
  had_client_ = true;
  waits_to_send_ = false;
  watch(client_.socket(), EventSource::client, EPOLLIN);
}

void Launcher::serve_client() {
  if (waits_to_send_) want_to_send(false);
  while (const PacketHeader* packet = client_.receive()) serve_packet(*packet);
}

void Launcher::serve_packet(const PacketHeader& packet) {
  if (packet.kind == PacketKind::hello) {
    Welcome welcome{{PacketKind::welcome, protocol_version, sizeof welcome, 0, 0},
                    cgroups_.is_open() ? Containment::cgroup : Containment::subreaper,
                    getpid()};
    client_.send(&welcome, sizeof welcome, -1);
    must_list_ = true;
    return tasks_.for_each([](ManagedTask& task) {
      task.set_dirty(true);
      task.set_ring_sent(false);
    });
  }
  if (packet.kind == PacketKind::ping) {
    const PacketHeader pong{PacketKind::pong, protocol_version, sizeof pong, 0, 0};
    client_.send(&pong, sizeof pong,
                 -1);  // not sent, because its buffer is full: there is news enough on its way
    return;
  }
  if (packet.kind == PacketKind::spawn) return spawn(packet);
  ManagedTask* task = tasks_.find(packet.slot);
  if (task == nullptr) return;  // forgotten; the packet crossed with its snapshot
  if (packet.kind == PacketKind::forget) {
    if (task->is_over()) tasks_.drop(packet.slot);
    return;
  }
  serve_task_packet(*task, packet);
}

void Launcher::serve_task_packet(ManagedTask& task, const PacketHeader& packet) {
  switch (packet.kind) {
    case PacketKind::signal:
      if (const auto* request = as<SignalRequest>(packet)) return task.send_signal(request->signal);
      break;
    case PacketKind::end_tree:
      if (const auto* request = as<EndRequest>(packet))
        return task.end_tree(request->signal, request->grace_ms);
      break;
    case PacketKind::stdin_data:
      if (const auto* request = as<StdinRequest>(packet)) {
        return task.write_stdin(request->offset, reinterpret_cast<const char*>(request + 1),
                                packet.bytes - sizeof *request);
      }
      break;
    case PacketKind::stdin_end:
      if (const auto* request = as<StdinRequest>(packet)) return task.close_stdin_at(request->offset);
      break;
    case PacketKind::room: return task.resume_reading();
    default: break;
  }
  client_.close();  // an unknown or short packet: not our node
}

void Launcher::spawn(const PacketHeader& packet) {
  const auto* request = as<SpawnRequest>(packet);
  static StringTable strings;
  if (request == nullptr || !strings.parse(*request) || !has_files(*request, client_.files()))
    return client_.close();
  // A slot or a task that is known already: nothing is started.
  if (ManagedTask* present = tasks_.find(packet.slot)) return present->set_dirty(true);
  const bool is_known = tasks_.find_task(request->task_id) != nullptr;
  ManagedTask& task = tasks_.make(packet.slot, around_);
  if (is_known) return task.refuse(*request);
  task.start(*request, strings.strings(), client_.files());
}

void Launcher::reap() {
  signalfd_siginfo ignored[8];
  while (read(signals_, ignored, sizeof ignored) > 0) {
  }
  int status = 0;
  rusage usage{};
  for (pid_t process = 0; (process = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    tasks_.for_each([&](ManagedTask& task) { task.on_reaped(process, status, usage); });
  }
  tasks_.for_each([](ManagedTask& task) { task.on_tree_changed(); });
}

int Launcher::wait_ms() {
  std::int64_t first = 0;
  tasks_.for_each([&](ManagedTask& task) {
    const std::int64_t deadline = task.next_deadline();
    if (deadline != 0 && (first == 0 || deadline < first)) first = deadline;
  });
  if (first == 0) return had_client_ ? -1 : static_cast<int>(first_client_within_ns / ns_per_ms);
  const std::int64_t left = first - now_ns();
  return left <= 0 ? 0 : static_cast<int>(left / ns_per_ms + 1);
}

void Launcher::run_deadlines() {
  const std::int64_t now = now_ns();
  tasks_.for_each([now](ManagedTask& task) { task.on_time(now); });
}

void Launcher::flush() {
  if (!client_.is_open() || waits_to_send_) return;
  bool all_sent = true;
  tasks_.for_each([&](ManagedTask& task) {
    if (all_sent && task.is_dirty()) all_sent = send_snapshot(task);
  });
  if (!all_sent || !must_list_ || !client_.is_open()) return;
  const PacketHeader listed{PacketKind::listed, protocol_version, sizeof listed, 0, 0};
  must_list_ = false;
  client_.send(&listed, sizeof listed, -1);
}

// False: not now.
bool Launcher::send_snapshot(ManagedTask& task) {
  switch (client_.send(&task.snapshot(), sizeof(TaskSnapshot), task.ring_to_send())) {
    case Client::Sent::yes:
      task.set_dirty(false);
      task.set_ring_sent(task.snapshot().has_ring != 0);
      return true;
    case Client::Sent::later: want_to_send(true); return false;
    case Client::Sent::lost: return false;
  }
  return false;
}

void Launcher::want_to_send(bool wanted) {
  waits_to_send_ = wanted;
  if (client_.is_open()) watch(client_.socket(), EventSource::client, wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

}  // namespace outhaul::launcher
