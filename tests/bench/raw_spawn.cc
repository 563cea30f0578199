// The limit that Outhaul is measured against: posix_spawn of a program from a small process.
//   raw_spawn PROGRAM RUNS IN_FLIGHT TOTAL
// Prints one JSON line: latency one at a time, and the rate of spawn-and-wait with IN_FLIGHT children.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpu_seconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const auto& part : {used.ru_utime, used.ru_stime}) {
      total += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
    }
  }
  return total;
}

void spawn(char* program) {
  char* const argv[] = {program, nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, program, nullptr, nullptr, argv, environ) != 0) {
    std::perror("posix_spawn");
    std::exit(1);
  }
}

void reap() {
  int status = 0;
  if (wait(&status) < 0) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int runs = std::atoi(argv[2]);
  const int in_flight = std::atoi(argv[3]);
  const int total = std::atoi(argv[4]);
  std::vector<double> latencies;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    spawn(argv[1]);
    reap();
    latencies.push_back(seconds_since(start) * 1e6);
  }
  std::ranges::sort(latencies);
  const auto at = [&](double part) { return latencies[static_cast<std::size_t>(part * (runs - 1))]; };
  const auto start = Clock::now();
  const double cpu = cpu_seconds();
  for (int i = 0; i < total; ++i) {
    if (i >= in_flight) reap();
    spawn(argv[1]);
  }
  for (int i = 0; i < std::min(in_flight, total); ++i) reap();
  std::printf(R"({"p50_us": %.0f, "p99_us": %.0f, "rate": %.1f, "cpu_us": %.0f})"
              "\n",
              at(0.5), at(0.99), total / seconds_since(start), (cpu_seconds() - cpu) / total * 1e6);
  return 0;
}
