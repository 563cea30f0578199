// How many durable task rows a second the hub's database takes, by the number of clients that wait at once.
//   store_bench [DIRECTORY]   on the disk to be measured; the temporary directory by default
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/task_group.h"
#include "store/sqlite_database.h"
#include "testing/seeded_random.h"

namespace outhaul::store {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Run {
  Database& database;
  SteadyClock::time_point ends_at;
  testing::SeededRandom random{1};
  std::int64_t inserted = 0;
  std::vector<double> waits_in_microseconds = {};
};

TaskRow next_row(Run& run) {
  const WallTime now{(1'767'225'600'000 + run.inserted) * 1'000'000};
  TaskRow row;
  row.id = TaskId::make(now, run.random);
  row.stream = StreamId::make(now, run.random);
  row.owner = AccountId::assume("acc_01arz3ndektsv4rrffq69g5fav");
  row.spec = Bytes(600, 's');
  row.times.created_at = now;
  return row;
}

Task<void> run_client(Run& run) {
  while (SteadyClock::now() < run.ends_at) {
    auto work = [row = next_row(run)](Transaction& tx) { return tx.tasks.add(row); };
    const auto began = SteadyClock::now();
    const auto added = co_await run.database.transact(std::move(work));
    if (!added) throw std::runtime_error(added.error().what());
    run.waits_in_microseconds.push_back(
        std::chrono::duration<double, std::micro>(SteadyClock::now() - began).count());
    run.inserted += 1;
  }
}

void measure(const std::string& path, int clients, SteadyClock::duration span) {
  asio::io_context io;
  auto database = SqliteDatabase::create({.path = path, .deployment = "bench.test"}, WallTime{1});
  if (!database) throw std::runtime_error(database.error().what());
  Run run{.database = **database, .ends_at = SteadyClock::now() + span};
  TaskGroup group(io.get_executor());
  for (int i = 0; i < clients; ++i) group.spawn([&run] { return run_client(run); });
  io.run();
  auto& waits = run.waits_in_microseconds;
  std::ranges::sort(waits);
  const auto counters = run.database.counters();
  const double seconds = std::chrono::duration<double>(span).count();
  fmt::print("{:>8} {:>10.0f} {:>12.1f} {:>9.0f} {:>9.0f}\n", clients,
             static_cast<double>(run.inserted) / seconds,
             static_cast<double>(counters.transactions) /
                 static_cast<double>(std::max<std::uint64_t>(counters.commits, 1)),
             waits[waits.size() / 2], waits[waits.size() * 99 / 100]);
}

}  // namespace
}  // namespace outhaul::store

int main(int argc, char** argv) {
  const std::filesystem::path parent = argc > 1 ? argv[1] : std::filesystem::temp_directory_path();
  auto directory = (parent / "store-bench-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) return 1;
  fmt::print("{:>8} {:>10} {:>12} {:>9} {:>9}\n", "clients", "rows/s", "rows/commit", "p50 us", "p99 us");
  for (const int clients : {1, 8, 64, 256}) {
    outhaul::store::measure(directory + "/" + std::to_string(clients), clients, std::chrono::seconds(2));
  }
  std::filesystem::remove_all(directory);
  return 0;
}
