// What the launcher adds to a spawn: `true` through LauncherClient, request to the final status, beside
// posix_spawn and wait in the same run.
//   launcher_bench LAUNCHER RUNS IN_FLIGHT TOTAL [--no-cgroup]
// Prints one JSON line.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/system_clock.h"
#include "base/task_group.h"
#include "crypto/system_random.h"
#include "sandbox/launcher_client.h"
#include "testing/scratch_directory.h"

extern char** environ;

namespace {

using namespace outhaul;
using Clock = std::chrono::steady_clock;

char program[] = "/bin/true";

double micros_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void spawn_raw() {
  char* const argv[] = {program, nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, program, nullptr, nullptr, argv, environ) != 0) std::exit(1);
}

void reap_raw() {
  int status = 0;
  if (wait(&status) < 0) std::exit(1);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double measure_raw(int runs) {
  std::vector<double> latencies;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    spawn_raw();
    reap_raw();
    latencies.push_back(micros_since(start));
  }
  return median(std::move(latencies));
}

double measure_raw_rate(int in_flight, int total) {
  const auto start = Clock::now();
  for (int i = 0; i < total; ++i) {
    if (i >= in_flight) reap_raw();
    spawn_raw();
  }
  for (int i = 0; i < std::min(in_flight, total); ++i) reap_raw();
  return total / micros_since(start) * 1e6;
}

sandbox::ProcessSpec make_spec(Random& random) {
  sandbox::ProcessSpec spec;
  spec.task = TaskId::make(SystemClock().wall_now(), random);
  spec.argv = {program};
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.directory = "/";
  return spec;
}

Task<void> run_one(sandbox::LauncherClient& client, Random& random) {
  auto process = client.start(make_spec(random));
  if (!process) std::exit(1);
  while (!(*process)->status().is_final()) {
    (*process)->changed().reset();
    co_await (*process)->changed().wait();
  }
  (*process)->forget();
}

Task<void> run_many(sandbox::LauncherClient& client, Random& random, int count) {
  for (int i = 0; i < count; ++i) co_await run_one(client, random);
}

struct Measured {
  double latency_us = 0;
  double rate = 0;
};

Task<void> measure(sandbox::LauncherClient& client, int runs, int in_flight, int total, Measured& measured) {
  crypto::SystemRandom random;
  if (!co_await client.attach()) std::exit(1);
  std::vector<double> latencies;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    co_await run_one(client, random);
    latencies.push_back(micros_since(start));
  }
  measured.latency_us = median(std::move(latencies));
  const auto start = Clock::now();
  TaskGroup group(co_await asio::this_coro::executor);
  for (int i = 0; i < in_flight; ++i) {
    group.spawn([&client, &random, count = total / in_flight] { return run_many(client, random, count); });
  }
  co_await group.join();
  measured.rate = total / in_flight * in_flight / micros_since(start) * 1e6;
  co_await client.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int runs = std::atoi(argv[2]);
  const int in_flight = std::atoi(argv[3]);
  const int total = std::atoi(argv[4]);
  testing::ScratchDirectory scratch;
  SystemClock clock;
  asio::io_context io(1);
  const bool use_cgroups = argc == 5;
  sandbox::LauncherClient client(io.get_executor(), clock, {scratch.file(""), argv[1], use_cgroups, 0});
  Measured measured;
  TaskGroup group(io.get_executor());
  group.spawn([&] { return measure(client, runs, in_flight, total, measured); });
  io.run();
  const double raw = measure_raw(runs);
  const double raw_rate = measure_raw_rate(in_flight, total);
  std::printf(
      R"({"raw_us": %.0f, "launcher_us": %.0f, "ratio": %.2f, "raw_rate": %.0f, "launcher_rate": %.0f, "rate_ratio": %.2f})"
      "\n",
      raw, measured.latency_us, measured.latency_us / raw, raw_rate, measured.rate, measured.rate / raw_rate);
  return 0;
}
