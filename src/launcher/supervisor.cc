#include "launcher/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/descriptor.h"

namespace outhaul::launcher {
namespace {

std::int64_t to_ns(const timeval& time) { return std::int64_t{time.tv_sec} * ns_per_s + time.tv_usec * 1000; }

void publish(SupervisorReport& report, SupervisorPhase phase, int notice) {
  report.phase.store(phase);
  const std::uint64_t one = 1;
  if (write(notice, &one, sizeof one) < 0) _exit(1);
}

// The pipes belong to the program alone: one that we hold as well would never come to its end.
void drop_descriptors(int notice) {
  if (notice > 0) syscall(SYS_close_range, 0U, static_cast<unsigned>(notice) - 1, 0U);
  syscall(SYS_close_range, static_cast<unsigned>(notice) + 1, ~0U, 0U);
}

void reap_until_alone(pid_t program, SupervisorReport& report, int notice) {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t ended = wait4(-1, &status, 0, &usage);
    if (ended < 0 && errno != EINTR) return;
    if (ended != program) continue;
    report.exit = make_exit_facts(status, usage);
    publish(report, SupervisorPhase::exited, notice);
  }
}

[[noreturn]] void supervise(const SpawnPlan& plan, SupervisorReport& report, int notice) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  report.started_at_ns = wall_ns();
  report.started_ns = now_ns();
  report.outcome = spawn_program(plan);
  drop_descriptors(notice);
  publish(report, SupervisorPhase::started, notice);
  if (report.outcome.process > 0) reap_until_alone(report.outcome.process, report, notice);
  _exit(0);
}

}  // namespace

ExitFacts make_exit_facts(int wait_status, const rusage& usage) {
  ExitFacts facts;
  facts.wait_status = wait_status;
  facts.ended_at_ns = wall_ns();
  facts.ended_ns = now_ns();
  facts.user_cpu_ns = to_ns(usage.ru_utime);
  facts.system_cpu_ns = to_ns(usage.ru_stime);
  facts.max_rss_bytes = usage.ru_maxrss * 1024;
  return facts;
}

pid_t start_supervisor(const SpawnPlan& plan, SupervisorReport& report, int notice) {
  report.phase.store(SupervisorPhase::forked);
  const pid_t process = fork();
  if (process == 0) supervise(plan, report, notice);
  return process;
}

}  // namespace outhaul::launcher
