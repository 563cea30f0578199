// What only a real kernel shows: pipes held by grandchildren, trees that double-fork, dead launchers.
#include "sandbox/launcher_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "base/system_clock.h"
#include "base/within.h"
#include "testing/scratch_directory.h"

namespace outhaul::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 20s;
const TaskId task_id = TaskId::assume("task_01hzzzzzzzzzzzzzzzzzzzzzzz");

class LauncherClientTest : public ::testing::TestWithParam<bool> {
 protected:
  template <class Body>
  void live(Body body) {
    asio::io_context context;
    bool ended = false;
    TaskGroup group(context.get_executor());
    group.spawn([&]() -> Task<void> {
      LauncherClient client(context.get_executor(), clock_,
                            {scratch_.file(""), OUTHAUL_LAUNCHER_PROGRAM, GetParam(), 0});
      auto adopted = co_await client.attach();
      EXPECT_TRUE(adopted.has_value());
      if (adopted) co_await body(client, *adopted);
      if (adopted) adopted->clear();
      co_await client.close();
      ended = true;
    });
    context.run();
    EXPECT_TRUE(ended);
  }

  ProcessSpec shell(std::string line) {
    ProcessSpec spec;
    spec.task = task_id;
    spec.argv = {"/bin/sh", "-c", std::move(line)};
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.directory = "/";
    spec.pipe_grace = 300ms;
    return spec;
  }

  Task<std::string> read_until(Process& process, std::string_view wanted) {
    std::string out;
    while (!wanted.empty() ? !out.contains(wanted) : !process.status().is_final() || process.peek_output()) {
      process.changed().reset();
      while (auto chunk = process.peek_output()) {
        out.append(chunk->bytes);
        process.consume_output();
      }
      if (wanted.empty() ? process.status().is_final() : out.contains(wanted)) break;
      if (!co_await within(clock_, clock_.now() + patience, process.changed().wait())) break;
    }
    co_return out;
  }
  Task<std::string> finish(Process& process) { return read_until(process, ""); }

  // Any process, also one that is no child of ours; five seconds at most.
  static bool wait_until_ended(int process) {
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    if (descriptor < 0) return errno == ESRCH;
    pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
    const bool has_ended = ::poll(&waited, 1, 5000) == 1;
    ::close(descriptor);
    return has_ended;
  }

  // A zombie counts as gone: whoever inherited it reaps it in its own time.
  static bool is_gone(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    std::getline(file, stat);
    return stat.empty() || stat.substr(stat.rfind(')') + 2, 1) == "Z";
  }
  static bool is_gone(const std::string& printed) { return is_gone(std::stoi(printed)); }

  testing::ScratchDirectory scratch_;
  SystemClock clock_;
};

SharedDescriptor held(const std::filesystem::path& path, int flags) {
  return std::make_shared<const Descriptor>(::open(path.c_str(), flags | O_CLOEXEC));
}

void write_script(const std::filesystem::path& path, const std::string& line) {
  const auto fresh = path.string() + ".new";
  std::ofstream(fresh) << "#!/bin/sh\n" << line << "\n";
  std::filesystem::permissions(fresh, std::filesystem::perms::owner_all);
  std::filesystem::rename(fresh, path);
}

// proves X25
TEST_P(LauncherClientTest, WhenFilesAreHeld_ThenTheyRunAlthoughTheirPathsNameOthersByNow) {
  const std::filesystem::path root = scratch_.file("held");
  std::filesystem::create_directories(root / "work");
  write_script(root / "program", R"(echo "held program $#"; /bin/sh "$1"; ls; ls /proc/self/fd | wc -l)");
  write_script(root / "script", "echo held script");
  std::ofstream(root / "work" / "held_directory");
  ProcessSpec spec = shell("");
  spec.argv = {root / "program", root / "script"};
  spec.directory = root / "work";
  spec.held = {.program = held(root / "program", O_RDONLY),
               .directory = held(root / "work", O_PATH | O_DIRECTORY),
               .arguments = {{1, held(root / "script", O_RDONLY)}}};
  write_script(root / "program", "echo another program");
  write_script(root / "script", "echo another script");
  std::filesystem::rename(root / "work", root / "moved");
  std::filesystem::create_directory(root / "work");

  live([&](LauncherClient& client, auto&) -> Task<void> {
    auto process = client.start(spec);
    const auto out = co_await finish(**process);

    // 0 to 2, the two that are held, and the directory that ls lists.
    EXPECT_EQ(out, "held program 1\nheld script\nheld_directory\n6\n");
    EXPECT_EQ((*process)->status().exit_code, 0);
    (*process)->forget();
  });
}

// proves X6
TEST_P(LauncherClientTest, WhenAGrandchildHoldsThePipe_ThenTheExitCountsAndTheHolderIsNamedAndEnded) {
  live([this](LauncherClient& client, auto&) -> Task<void> {
    const auto begun = clock_.now();
    auto process = client.start(shell("setsid sleep 1000 & echo $!; exit 5"));
    const auto out = co_await finish(**process);
    const auto& status = (*process)->status();

    EXPECT_EQ(status.state, ProcessState::ended);
    EXPECT_EQ(status.exit_code, 5);
    EXPECT_LT(status.duration, 300ms * 10);
    EXPECT_TRUE(status.pipe_holder.starts_with("sleep[")) << status.pipe_holder;
    EXPECT_GE(status.processes_killed, 1U);
    EXPECT_TRUE(is_gone(out));
    EXPECT_LT(clock_.now() - begun, patience);
    (*process)->forget();
  });
}

// proves X17
TEST_P(LauncherClientTest, WhenADoubleForkedTreeIgnoresTerm_ThenAllOfItIsKilledAndCounted) {
  live([this](LauncherClient& client, auto&) -> Task<void> {
    auto process =
        client.start(shell("trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 1000 & echo $!; wait' &) ; "
                           "sleep 0.2; echo ready; sleep 1000"));
    const auto out = co_await read_until(**process, "ready");

    (*process)->end_tree(SIGTERM, 200ms);
    co_await finish(**process);

    const auto& status = (*process)->status();
    EXPECT_EQ(status.state, ProcessState::ended);
    EXPECT_EQ(status.signal, SIGKILL);
    EXPECT_GE(status.processes_killed, 3U);
    EXPECT_TRUE(is_gone(out));
    (*process)->forget();
  });
}

// proves C4
TEST_P(LauncherClientTest, WhenTheProgramLeavesAQuietDaemon_ThenItDoesNotOutliveTheTask) {
  live([this](LauncherClient& client, auto&) -> Task<void> {
    auto process = client.start(shell("setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!"));

    const auto out = co_await finish(**process);

    EXPECT_EQ((*process)->status().exit_code, 0);
    EXPECT_TRUE(is_gone(out));
    (*process)->forget();
  });
}

TEST_P(LauncherClientTest, WhenTheLauncherIsKilled_ThenItsOutputIsReadAndTheProcessIsLostAndEnded) {
  live([this](LauncherClient& client, auto&) -> Task<void> {
    auto process = client.start(shell("setsid sleep 1000 & echo $!; sleep 1000"));
    const auto out = co_await read_until(**process, "\n");

    kill(client.launcher_process_id(), SIGKILL);
    co_await finish(**process);

    EXPECT_EQ((*process)->status().state, ProcessState::lost);
    (*process)->forget();
    // The next launcher has ended what the first one left before it takes anything on.
    auto spec = shell("echo again");
    spec.task = TaskId::assume("task_01hzzzzzzzzzzzzzzzzzzzzzz0");
    Result<std::unique_ptr<Process>> next = client.start(spec);
    for (int i = 0; i < 200 && !next; ++i) {
      co_await clock_.sleep_for(10ms);
      next = client.start(spec);
    }
    EXPECT_TRUE(next.has_value());
    if (!next) co_return;
    EXPECT_EQ(co_await finish(**next), "again\n");
    EXPECT_TRUE(is_gone(out));
    (*next)->forget();
  });
}

TEST_P(LauncherClientTest,
       WhenTheEnvironmentAndTheDirectoryAreGiven_ThenTheProgramHasThemAndNoDescriptorOfOurs) {
  live([this](LauncherClient& client, auto&) -> Task<void> {
    auto spec = shell("echo $WORD; pwd; ls /proc/self/fd | wc -l; grep NoNewPrivs /proc/self/status");
    spec.environment.push_back("WORD=given");
    spec.directory = "/usr";
    auto process = client.start(spec);

    const auto out = co_await finish(**process);

    EXPECT_EQ(out, "given\n/usr\n4\nNoNewPrivs:\t1\n");
    (*process)->forget();
  });
}

TEST_P(LauncherClientTest, WhenNothingIsLeftToDo_ThenTheLauncherEndsByItself) {
  int launcher = 0;
  live([&](LauncherClient& client, auto&) -> Task<void> {
    launcher = client.launcher_process_id();
    co_return;
  });

  EXPECT_GT(launcher, 0);
  EXPECT_TRUE(wait_until_ended(launcher));
}

INSTANTIATE_TEST_SUITE_P(Containment, LauncherClientTest, ::testing::Values(true, false),
                         [](const auto& is_cgroup) { return is_cgroup.param ? "cgroup" : "subreaper"; });

}  // namespace
}  // namespace outhaul::sandbox
