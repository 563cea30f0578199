#include "main/stranded_tasks.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/system_clock.h"
#include "base/within.h"
#include "crypto/data_directory.h"
#include "main/run_on_loop.h"
#include "sandbox/launcher_client.h"

namespace outhaul {
namespace {

constexpr auto end_within = std::chrono::seconds(10);

Task<Result<void>> end_all(AsyncClock& clock, sandbox::LauncherClient& launcher) {
  OUTHAUL_CO_TRY(processes, co_await launcher.attach());
  for (auto& process : processes) {
    if (!process->status().is_final()) process->end_tree(SIGKILL, Duration(0));
  }
  const auto deadline = clock.now() + end_within;
  for (auto& process : processes) {
    while (!process->status().is_final()) {
      process->changed().reset();
      if (process->status().is_final()) break;
      if (!co_await within(clock, deadline, process->changed().wait())) {
        co_return fail(ErrorCode::deadline_exceeded, "a program does not end");
      }
    }
  }
  co_return Result<void>();
}

Task<Result<void>> end_and_leave(AsyncClock& clock, sandbox::LauncherClient& launcher) {
  auto ended = co_await end_all(clock, launcher);
  co_await launcher.close();
  co_return ended;
}

}  // namespace

Result<void> end_stranded_tasks(const std::filesystem::path& data_directory) {
  // Held until the end, so that no node starts meanwhile.
  OUTHAUL_TRY(data, crypto::DataDirectory::open(data_directory, crypto::DataOwner::node));
  sandbox::LauncherSettings settings{.directory = data.path(), .program = {}};
  const auto living = sandbox::LauncherStarter(settings).connect();
  if (!living) return living.error().code() == ErrorCode::not_found ? Result<void>() : fail(living.error());
  ::close(*living);
  asio::io_context io(1);
  SystemClock clock;
  sandbox::LauncherClient launcher(io.get_executor(), clock, std::move(settings));
  return run_on_loop(io, end_and_leave(clock, launcher));
}

}  // namespace outhaul
