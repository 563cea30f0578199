// CPU seconds a GiB of the path that bulk output takes through one process: append, segment, background sync,
// and one reader that keeps up. Prints one line a size of record.
//   stream_bench [DIRECTORY] [MIB]
#include <sys/resource.h>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "stream/crc32c.h"
#include "stream/file_disk.h"
#include "stream/stream_store.h"
#include "testing/run_task.h"
#include "testing/seeded_random.h"

namespace {

using namespace outhaul;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Flow {
  std::uint64_t total;
  Bytes payload;
};

Task<int> pass(stream::StreamStore& store, StreamId id, Flow flow) {
  std::uint64_t read = 0;
  for (std::uint64_t written = 0; written < flow.total; written += flow.payload.size()) {
    const auto appended = store.append(id, stream::RecordKind::standard_output, {}, flow.payload);
    if (!appended) std::abort();
    const auto chunk = store.read(id, read, 256U << 10U);
    if (!chunk) std::abort();
    read = chunk->next.offset;
    // Lets completions of syncs in, as a loop with other work does.
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  }
  const auto last = store.append(id, stream::RecordKind::result, {}, "end");
  const auto durable = co_await store.durable(id);
  co_return last&& durable ? 0 : 1;
}

void measure(const std::filesystem::path& directory, std::size_t record_bytes, std::uint64_t mib) {
  asio::io_context io;
  stream::FileDisk disk(io.get_executor(), directory);
  stream::StreamStore store(io.get_executor(), disk);
  auto journal = outhaul::testing::run_task(io, stream::Journal::open(disk, {&store}));
  if (!journal || !outhaul::testing::run_task(io, store.recover(**journal))) std::abort();
  outhaul::testing::SeededRandom random(1);
  const auto id = StreamId::make({}, random);
  if (!store.create(id, stream::Incarnation::make(random))) std::abort();
  Flow flow{.total = mib << 20U, .payload = random.bytes(record_bytes)};
  const double before = cpu_seconds();
  if (outhaul::testing::run_task(io, pass(store, id, std::move(flow))) != 0) std::abort();
  const double spent = (cpu_seconds() - before) * 1024 / static_cast<double>(mib);
  std::printf("append, sync and read in records of %6zu bytes: %.2f CPU s/GiB\n", record_bytes, spent);
  if (!store.forget(id)) std::abort();
  outhaul::testing::run_task(io, [](stream::StreamStore& closing) -> Task<int> {
    co_await closing.close();
    co_return 0;
  }(store));
}

void measure_crc() {
  outhaul::testing::SeededRandom random(1);
  const Bytes block = random.bytes(65536);
  const double before = cpu_seconds();
  std::uint32_t sum = 0;
  for (int i = 0; i < 16384; ++i) sum = stream::crc32c(block, sum);
  std::printf("crc32c of blocks of 65536 bytes: %.3f CPU s/GiB (%08x)\n", cpu_seconds() - before, sum);
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path directory = argc > 1 ? argv[1] : "stream_bench_data";
  const std::uint64_t mib = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024;
  std::filesystem::create_directories(directory);
  measure_crc();
  for (const std::size_t record_bytes : {65536UL, 16384UL, 4096UL}) measure(directory, record_bytes, mib);
  std::filesystem::remove_all(directory);
  return 0;
}
