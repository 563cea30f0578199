// One suite for every ProcessLauncher. What the fake cannot know (pipes held by grandchildren, real
// signals) is in launcher_client_test.cc beside the real adapter.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>

#include "base/system_clock.h"
#include "base/within.h"
#include "sandbox/launcher_client.h"
#include "testing/memory_launcher.h"

namespace outhaul {
namespace {

using sandbox::OutputKind;
using sandbox::Process;
using sandbox::ProcessLauncher;
using sandbox::ProcessSpec;
using sandbox::ProcessState;
using Adopted = std::vector<std::unique_ptr<Process>>;

constexpr auto patience = std::chrono::seconds(20);

TaskId task_number(int number) {
  auto text = std::to_string(number);
  return TaskId::assume("task_" + std::string(26 - text.size(), '0') + text);
}

// A launcher and what outlives a client of it.
class Place {
 public:
  virtual ~Place() = default;
  // A client as a freshly started node has one.
  virtual std::unique_ptr<ProcessLauncher> make_client(const Executor& executor) = 0;
  virtual Task<void> close(ProcessLauncher& client) = 0;
};

class RealPlace final : public Place {
 public:
  explicit RealPlace(bool use_cgroups) : use_cgroups_(use_cgroups) {
    std::string pattern = std::filesystem::temp_directory_path() / "outhaul-launcher-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~RealPlace() override { std::filesystem::remove_all(directory_); }
  std::unique_ptr<ProcessLauncher> make_client(const Executor& executor) override {
    return std::make_unique<sandbox::LauncherClient>(
        executor, clock_, sandbox::LauncherSettings{directory_, OUTHAUL_LAUNCHER_PROGRAM, use_cgroups_, 0});
  }
  Task<void> close(ProcessLauncher& client) override {
    return static_cast<sandbox::LauncherClient&>(client).close();
  }

 private:
  bool use_cgroups_;
  std::filesystem::path directory_;
  SystemClock clock_;
};

class MemoryPlace final : public Place {
 public:
  MemoryPlace() {
    machine_.teach("printf out; printf err >&2; exit 3", {"out=out", "err=err", "exit=3"});
    machine_.teach("cat; echo done", {"cat", "out=done\n"});
    machine_.teach("cat", {"cat"});
    machine_.teach("trap '' TERM; echo ready; sleep 1000", {"ignore-term", "out=ready\n", "wait=1000s"});
    machine_.teach("printf first; printf second >&2; exit 7", {"out=first", "err=second", "exit=7"});
    machine_.teach("printf once", {"out=once"});
    machine_.teach("printf twice", {"out=twice"});
    machine_.teach("head -c 5000000 /dev/zero", {"fill=5000000"});
  }
  std::unique_ptr<ProcessLauncher> make_client(const Executor& executor) override {
    return std::make_unique<testing::MemoryLauncher>(executor, clock_, machine_);
  }
  Task<void> close(ProcessLauncher& client) override {
    return static_cast<testing::MemoryLauncher&>(client).close();
  }

 private:
  SystemClock clock_;
  testing::MemoryMachine machine_;
};

struct Seen {
  std::string out;
  std::string err;
  std::uint64_t bytes = 0;
};

class ProcessLauncherContract : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "memory") {
      place_ = std::make_unique<MemoryPlace>();
    } else {
      place_ = std::make_unique<RealPlace>(GetParam() == "cgroup");
    }
  }

  // Runs one node's life: attach, `body`, leave.
  template <class Body>
  void live(Body body) {
    asio::io_context context;
    bool ended = false;
    TaskGroup group(context.get_executor());
    group.spawn([&]() -> Task<void> {
      auto client = place_->make_client(context.get_executor());
      auto adopted = co_await client->attach();
      EXPECT_TRUE(adopted.has_value());
      if (adopted) co_await body(*client, *adopted);
      if (adopted) adopted->clear();
      co_await place_->close(*client);
      ended = true;
    });
    context.run();
    EXPECT_TRUE(ended);
  }

  ProcessSpec shell(int number, std::string line) {
    ProcessSpec spec;
    spec.task = task_number(number);
    spec.argv = {"/bin/sh", "-c", std::move(line)};
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.directory = "/";
    return spec;
  }

  // Reads output until `until` holds, at most `patience`.
  template <class Until>
  Task<void> follow(Process& process, Seen& seen, Until until) {
    while (!until()) {
      process.changed().reset();
      while (auto chunk = process.peek_output()) {
        EXPECT_EQ(chunk->offset, seen.bytes);
        const auto behind = process.peek_output_at(1);
        if (behind) EXPECT_EQ(behind->offset, chunk->offset + chunk->bytes.size());
        seen.bytes += chunk->bytes.size();
        (chunk->kind == OutputKind::out ? seen.out : seen.err).append(chunk->bytes);
        process.consume_output();
        if (until()) co_return;
      }
      if (until()) co_return;
      const bool in_time = co_await within(clock_, clock_.now() + patience, process.changed().wait());
      EXPECT_TRUE(in_time);
      if (!in_time) co_return;
    }
  }
  Task<Seen> finish(Process& process) { return finish_from(process, {}); }
  Task<Seen> finish_from(Process& process, Seen seen) {
    const auto is_final = [&] { return process.status().is_final() && !process.peek_output(); };
    co_await follow(process, seen, is_final);
    co_return seen;
  }

  std::unique_ptr<Place> place_;
  SystemClock clock_;
};

// proves C1
TEST_P(ProcessLauncherContract, WhenAProgramPrintsAndEnds_ThenBothOutputsAndItsCodeArrive) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto process = launcher.start(shell(1, "printf out; printf err >&2; exit 3"));
    EXPECT_TRUE(process.has_value());

    const auto seen = co_await finish(**process);

    EXPECT_EQ(seen.out, "out");
    EXPECT_EQ(seen.err, "err");
    EXPECT_EQ((*process)->status().state, ProcessState::ended);
    EXPECT_EQ((*process)->status().exit_code, 3);
    EXPECT_EQ((*process)->status().signal, 0);
    (*process)->forget();
  });
}

TEST_P(ProcessLauncherContract, WhenTheProgramDoesNotExist_ThenItFailedAndSaysWhy) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto spec = shell(1, "");
    spec.argv = {"/no/such/program"};
    auto process = launcher.start(spec);
    EXPECT_TRUE(process.has_value());

    co_await finish(**process);

    EXPECT_EQ((*process)->status().state, ProcessState::failed);
    EXPECT_EQ((*process)->status().failure->code(), ErrorCode::program_not_found);
    EXPECT_NE((*process)->status().failure->what().find("No such file"), std::string::npos);
    (*process)->forget();
  });
}

// proves X7
TEST_P(ProcessLauncherContract, WhenThereIsNoStdin_ThenAReaderSeesItsEndAtOnce) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto process = launcher.start(shell(1, "cat; echo done"));

    const auto seen = co_await finish(**process);

    EXPECT_EQ(seen.out, "done\n");
    (*process)->forget();
  });
}

TEST_P(ProcessLauncherContract, WhenStdinIsOfferedTwice_ThenItIsAppliedOnce) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto spec = shell(1, "cat");
    spec.has_stdin = true;
    auto process = launcher.start(spec);
    Seen seen;
    EXPECT_TRUE((*process)->offer_stdin(0, "hello "));
    co_await follow(**process, seen, [&] { return (*process)->status().stdin_applied == 6; });

    EXPECT_TRUE((*process)->offer_stdin(0, "hello world"));
    (*process)->close_stdin(11);
    const auto rest = co_await finish_from(**process, seen);

    EXPECT_EQ(rest.out, "hello world");
    EXPECT_EQ((*process)->status().stdin_applied, 11U);
    EXPECT_TRUE((*process)->status().stdin_closed);
    (*process)->forget();
  });
}

// proves C4
TEST_P(ProcessLauncherContract, WhenATreeIsEndedThatIgnoresTerm_ThenItIsKilledAfterTheGrace) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto process = launcher.start(shell(1, "trap '' TERM; echo ready; sleep 1000"));
    Seen seen;
    co_await follow(**process, seen, [&] { return seen.out == "ready\n"; });

    (*process)->end_tree(15, std::chrono::milliseconds(100));
    co_await finish_from(**process, seen);

    EXPECT_EQ((*process)->status().state, ProcessState::ended);
    EXPECT_EQ((*process)->status().signal, 9);
    EXPECT_GE((*process)->status().processes_killed, 1U);
    (*process)->forget();
  });
}

// proves B6
TEST_P(ProcessLauncherContract, WhenTheNodeIsReplaced_ThenTheNextOneFindsTheProgramAndItsUnreadOutput) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto process = launcher.start(shell(1, "printf first; printf second >&2; exit 7"));
    EXPECT_TRUE(process.has_value());
    Seen seen;
    co_await follow(**process, seen, [&] { return (*process)->status().is_final(); });
  });

  live([](ProcessLauncher&, Adopted& adopted) -> Task<void> {
    EXPECT_EQ(adopted.size(), 1U);
    if (adopted.size() != 1) co_return;
    EXPECT_EQ(adopted[0]->task(), task_number(1));
    EXPECT_EQ(adopted[0]->status().exit_code, 7);
    adopted[0]->forget();
  });

  live([](ProcessLauncher&, Adopted& adopted) -> Task<void> {
    EXPECT_TRUE(adopted.empty());
    co_return;
  });
}

// proves C3
TEST_P(ProcessLauncherContract, WhenATaskIsStartedAgain_ThenItDoesNotRunAgain) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto first = launcher.start(shell(1, "printf once"));
    const auto seen = co_await finish(**first);

    auto second = launcher.start(shell(1, "printf twice"));
    const auto nothing = co_await finish(**second);

    EXPECT_EQ(seen.out, "once");
    EXPECT_EQ(nothing.out, "");
    EXPECT_EQ((*second)->status().state, ProcessState::failed);
    (*second)->forget();
    (*first)->forget();
  });
}

// proves X5
TEST_P(ProcessLauncherContract, WhenMoreIsPrintedThanTheRingHolds_ThenTheProgramWaitsAndNothingIsLost) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto process = launcher.start(shell(1, "head -c 5000000 /dev/zero"));

    const auto seen = co_await finish(**process);

    EXPECT_EQ(seen.out.size(), 5'000'000U);
    EXPECT_EQ((*process)->status().exit_code, 0);
    (*process)->forget();
  });
}

TEST_P(ProcessLauncherContract, WhenTheSpecIsTooLarge_ThenNothingStarts) {
  live([this](ProcessLauncher& launcher, Adopted&) -> Task<void> {
    auto spec = shell(1, std::string(ProcessLauncher::max_spec_bytes, 'x'));

    const auto process = launcher.start(spec);

    EXPECT_FALSE(process.has_value());
    if (!process) EXPECT_EQ(process.error().code(), ErrorCode::too_large);
    co_return;
  });
}

INSTANTIATE_TEST_SUITE_P(Adapters, ProcessLauncherContract,
                         ::testing::Values("memory", "cgroup", "subreaper"),
                         [](const auto& adapter) { return adapter.param; });

}  // namespace
}  // namespace outhaul
