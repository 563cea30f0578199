#include "launcher/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

namespace outhaul::launcher {
namespace {

constexpr std::size_t child_stack_bytes = 64 * 1024;
constexpr mode_t program_umask = 022;
constexpr unsigned close_everything = ~0U;

// Lives on the parent's stack; the child writes its failure here, for they share memory.
struct Child {
  const SpawnPlan& plan;
  SpawnOutcome outcome;
};

[[noreturn]] void give_up(Child& child, SpawnStage stage) {
  child.outcome.error = errno;
  child.outcome.stage = stage;
  _exit(127);
}

const char* find_path(char* const* environment) {
  for (; *environment != nullptr; ++environment) {
    if (strncmp(*environment, "PATH=", 5) == 0) return *environment + 5;
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

// Tries the name in one directory of PATH. Comes back only when that failed, with errno.
void execute_in(const char* directory, std::size_t length, const SpawnPlan& plan) {
  char path[PATH_MAX];
  const char* name = plan.arguments[0];
  const std::size_t name_length = strlen(name);
  if (length + 1 + name_length + 1 > sizeof path) {
    errno = ENAMETOOLONG;
    return;
  }
  memcpy(path, directory, length);
  path[length] = '/';
  memcpy(path + length + 1, name, name_length + 1);
  execve(path, plan.arguments, plan.environment);
}

// As execvp, but by the PATH of the program's own environment, and without its second try with sh.
void execute(const SpawnPlan& plan) {
  if ((plan.flags & spawn_executes_file) != 0) {
    syscall(SYS_execveat, first_file_descriptor, "", plan.arguments, plan.environment, AT_EMPTY_PATH);
    return;
  }
  if (strchr(plan.arguments[0], '/') != nullptr) {
    execve(plan.arguments[0], plan.arguments, plan.environment);
    return;
  }
  int remembered = ENOENT;
  for (const char* at = find_path(plan.environment); at != nullptr;) {
    const char* colon = strchr(at, ':');
    const std::size_t length = colon != nullptr ? static_cast<std::size_t>(colon - at) : strlen(at);
    if (length > 0) execute_in(at, length, plan);
    if (length > 0 && errno != ENOENT && errno != ENOTDIR) remembered = errno;
    at = colon != nullptr ? colon + 1 : nullptr;
  }
  errno = remembered;
}

void apply_limits(Child& child) {
  const SpawnPlan& plan = child.plan;
  if (setrlimit(RLIMIT_NOFILE, &plan.open_files) != 0) give_up(child, SpawnStage::limits);
  for (std::uint32_t i = 0; i < plan.limit_count; ++i) {
    const rlimit limit{plan.limits[i].soft, plan.limits[i].hard};
    if (setrlimit(static_cast<__rlimit_resource_t>(plan.limits[i].resource), &limit) != 0) {
      give_up(child, SpawnStage::limits);
    }
  }
}

bool starts_in_held_directory(const SpawnPlan& plan) { return (plan.flags & spawn_in_held_directory) != 0; }

void enter_directory(Child& child) {
  const SpawnPlan& plan = child.plan;
  const int result = starts_in_held_directory(plan) ? fchdir(plan.files->list[plan.files->count - 1].number())
                                                    : chdir(plan.directory);
  if (result != 0) give_up(child, SpawnStage::directory);
}

// All but the directory, from first_file_descriptor on, and nothing else.
void give_files(Child& child) {
  const SpawnPlan& plan = child.plan;
  const std::uint32_t count = plan.files->count - (starts_in_held_directory(plan) ? 1U : 0U);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (dup2(plan.files->list[i].number(), first_file_descriptor + static_cast<int>(i)) < 0)
      give_up(child, SpawnStage::resources);
  }
  syscall(SYS_close_range, static_cast<unsigned>(first_file_descriptor) + count, close_everything, 0U);
}

int run_child(void* argument) {
  Child& child = *static_cast<Child*>(argument);
  const SpawnPlan& plan = child.plan;
  // No session of its own: with autogroups the kernel gives each session an equal share of the processor, so
  // fifty tasks would leave the node a fiftieth, and the move into a new group delays the start (by
  // milliseconds on a busy machine). A group's leader cannot acquire a terminal either.
  setpgid(0, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  for (int i = 0; i < 3; ++i) {
    if (dup2(plan.descriptors[i], i) < 0) give_up(child, SpawnStage::resources);
  }
  enter_directory(child);
  give_files(child);
  umask(program_umask);
  apply_limits(child);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execute(plan);
  give_up(child, SpawnStage::execute);
}

#if defined(__x86_64__)
constexpr bool shares_memory = true;

// clone3 with a new stack cannot return in the child: there is no frame on that stack to return to. So the
// child calls `body` straight from here and ends with its result. rbx, r12: kept by the system call.
long clone_onto_stack(clone_args& arguments, int (*body)(void*), void* argument) {
  long result = SYS_clone3;
  register int (*kept_body)(void*) asm("rbx") = body;
  register void* kept_argument asm("r12") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r12, %%rdi\n\t"
      "call *%%rbx\n\t"
      "mov %%eax, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "r"(kept_body), "r"(kept_argument), [exit] "i"(SYS_exit_group)
      : "rcx", "r11", "memory");
  return result;
}
#else
constexpr bool shares_memory = false;

long clone_onto_stack(clone_args& arguments, int (*body)(void*), void* argument) {
  const long result = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (result == 0) _exit(body(argument));
  return result;
}
#endif

clone_args make_clone_args(const SpawnPlan& plan, char* stack) {
  clone_args arguments{};
  arguments.flags = CLONE_CLEAR_SIGHAND;
  arguments.exit_signal = SIGCHLD;
  if (shares_memory) {
    arguments.flags |= CLONE_VM | CLONE_VFORK;
    arguments.stack = reinterpret_cast<std::uint64_t>(stack);
    arguments.stack_size = child_stack_bytes;
  }
  if (plan.cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(plan.cgroup);
  }
  return arguments;
}

// Not by the child itself: we wait until it has executed the program, and one that is nice already is put off
// for whoever is busy, so that nothing else would start meanwhile. By its group, for it may have children by
// now. A nicer value is always granted; one that is not must not stop the work.
void make_nice(pid_t process, int more) {
  if (more == 0) return;
  const auto id = static_cast<id_t>(process);
  const int wanted = getpriority(PRIO_PROCESS, 0) + more;
  // The group may not be there yet where the child runs beside us.
  if (setpriority(PRIO_PGRP, id, wanted) != 0) setpriority(PRIO_PROCESS, id, wanted);
}

}  // namespace

SpawnOutcome spawn_program(const SpawnPlan& plan) {
  alignas(16) static char stack[child_stack_bytes];
  Child child{plan, {}};
  clone_args arguments = make_clone_args(plan, stack);
  const long result = clone_onto_stack(arguments, run_child, &child);
  if (result < 0) return {-1, static_cast<int>(-result), SpawnStage::resources};
  const auto process = static_cast<pid_t>(result);
  if (child.outcome.error == 0) {
    make_nice(process, plan.nice);
    return {process, 0, SpawnStage::none};
  }
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return child.outcome;
}

}  // namespace outhaul::launcher
