#include "cli/child_process.h"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace outhaul::cli {
namespace {

using Descriptor = asio::posix::stream_descriptor;

// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* argv, int input, int log) {
  ::setpgid(0, 0);  // a terminal's Ctrl-C is for us; we decide how the children end
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(argv[0], argv);
  _exit(127);
}

std::unexpected<Error> system_failure(std::string_view step) {
  return fail(ErrorCode::spawn_failed, fmt::format("{}: {}", step, std::strerror(errno)));
}

Result<int> input_with(const std::string& text) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("make a pipe");
  const auto written = ::write(ends[1], text.data(), text.size());
  ::close(ends[1]);
  if (written != static_cast<ssize_t>(text.size())) {
    ::close(ends[0]);
    return system_failure("write standard input");
  }
  return ends[0];
}

}  // namespace

// Closes its pidfd with itself.
class ChildProcess::Watch {
 public:
  Watch(const Executor& executor, int pidfd) : ended(executor, pidfd) {}
  Descriptor ended;
};

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const Executor& executor, const ChildSpec& spec) {
  OUTHAUL_TRY(input, input_with(spec.stdin_text));
  const int log = ::open(spec.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) {
    ::close(input);
    return system_failure("open the log " + spec.log_path);
  }
  std::vector<char*> argv;
  argv.reserve(spec.argv.size() + 1);
  for (const auto& word : spec.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) become(argv.data(), input, log);
  ::close(input);
  ::close(log);
  if (pid < 0) return system_failure("fork");
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) return system_failure("watch " + spec.argv.front());
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::make_unique<Watch>(executor, pidfd)));
}

ChildProcess::ChildProcess(pid_t pid, std::unique_ptr<Watch> watch) : pid_(pid), watch_(std::move(watch)) {}

ChildProcess::~ChildProcess() = default;

bool ChildProcess::has_ended() {
  if (!has_ended_) has_ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return has_ended_;
}

void ChildProcess::signal(int number) const {
  if (!has_ended_) ::kill(pid_, number);
}

Task<int> ChildProcess::wait() {
  while (!has_ended()) {
    co_await watch_->ended.async_wait(Descriptor::wait_read, asio::use_awaitable);
  }
  co_return status_;
}

std::string end_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("ended by signal {}", WTERMSIG(wait_status));
  return fmt::format("exited with {}", WEXITSTATUS(wait_status));
}

std::string program_directory() {
  std::array<char, PATH_MAX> path{};
  const auto size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string_view text(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto slash = text.rfind('/');
  return slash == text.npos ? "." : std::string(text.substr(0, slash));
}

}  // namespace outhaul::cli
