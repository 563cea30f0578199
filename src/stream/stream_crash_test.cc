// Lives of a store that end at any point: the power fails or the process is killed while syncs are under
// way. One seed decides everything.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "stream/memory_disk.h"
#include "stream/stream_store.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"
#include "testing/seeded_random.h"

namespace outhaul::stream {
namespace {

// A context that can end with coroutines inside: their frames are destroyed, as in a crash.
class DyingContext : public asio::io_context {
 public:
  void die() { shutdown(); }
};

class CrashRun {
 public:
  explicit CrashRun(std::uint64_t seed) : random_(seed) {}

  void run() {
    for (int life = 0; life < 5 && !::testing::Test::HasFailure(); ++life) live();
  }

 private:
  // What the test knows of a stream from outside.
  struct Known {
    Bytes written;
    bool complete = false;
    StreamPosition acknowledged;  // durable() has said so
    std::uint64_t dropped = 0;
  };
  struct Process {
    explicit Process(CrashRun& run)
        : disk(run.image_, io.get_executor(), run.clock_),
          store(io.get_executor(), disk, limits()),
          waiters(io.get_executor()) {}
    DyingContext io;
    MemoryDisk disk;
    StreamStore store;
    std::unique_ptr<Journal> journal;
    TaskGroup waiters;
  };

  static StreamStoreConfig limits() {
    return {.small_stream_bytes = 1000,
            .segment_bytes = 2500,
            .flush_bytes = 1500,
            .tail_bytes = 600,
            .max_memory_bytes = 5000,
            .quota_bytes = 1U << 30U,
            .free_floor_bytes = 0,
            .reserve_bytes = 0};
  }

  void live() {
    start();
    for (auto known = streams_.begin(); known != streams_.end() && !::testing::Test::HasFailure();) {
      SCOPED_TRACE(known->first.text());
      judge(known->first, known->second);
      known = process_->store.find(known->first) ? std::next(known) : streams_.erase(known);
    }
    process_->disk.faults.sync_latency = std::chrono::milliseconds(random_.below(3));
    for (auto left = random_.below(120); left > 0 && !::testing::Test::HasFailure(); --left) act();
    crash();
  }

  void start() {
    process_ = std::make_unique<Process>(*this);
    const JournalConfig config{.min_checkpoint_bytes = 4000};
    auto opened = testing::run_task(process_->io, Journal::open(process_->disk, {&process_->store}, config));
    ASSERT_TRUE(opened.has_value()) << opened.error().what();
    process_->journal = std::move(*opened);
    const auto recovered = testing::run_task(process_->io, process_->store.recover(*process_->journal));
    ASSERT_TRUE(recovered.has_value()) << recovered.error().what();
  }

  // Everything acknowledged is there; what is there is a prefix of what was written.
  void judge(const StreamId& id, Known& known) {
    const auto totals = process_->store.find(id);
    EXPECT_TRUE(totals || known.acknowledged == StreamPosition{});
    if (!totals) return;
    EXPECT_FALSE(totals->is_damaged) << describe_cuts();
    EXPECT_LE(known.acknowledged, (StreamPosition{totals->end, totals->complete}));
    judge_content(id, *totals, known);
    known.written.resize(totals->end);
    known.complete = totals->complete;
  }

  void judge_content(const StreamId& id, const StreamTotals& totals, const Known& known) {
    ASSERT_LE(totals.end, known.written.size());
    EXPECT_LE(totals.start, known.dropped);
    EXPECT_TRUE(!totals.complete || known.complete);
    EXPECT_EQ(read_all(id, totals.start), known.written.substr(totals.start, totals.end - totals.start));
  }

  std::string describe_cuts() const {
    std::string text;
    for (const auto& cut : process_->store.recovery().cuts) {
      text += cut.file + " at " + std::to_string(cut.offset) + ": " + cut.reason + "\n";
    }
    return text;
  }

  Bytes read_all(const StreamId& id, std::uint64_t from) {
    Bytes payloads;
    for (;;) {
      const auto chunk = process_->store.read(id, from, 1 + random_.below(2000));
      EXPECT_TRUE(chunk.has_value()) << chunk.error().what();
      if (!chunk || chunk->slices.empty()) return payloads;
      for (const auto& slice : chunk->slices) {
        for (ByteView rest = slice.view(); !rest.empty(); rest.remove_prefix(parse_record(rest)->size())) {
          payloads += parse_record(rest)->payload;
        }
      }
      from = chunk->next.offset;
      if (chunk->next.complete) return payloads;
    }
  }

  void act() {
    const auto dice = random_.below(20);
    if (dice == 0 || streams_.empty()) return make();
    auto& [id, known] =
        *std::next(streams_.begin(), static_cast<std::ptrdiff_t>(random_.below(streams_.size())));
    if (dice < 10) return write(id, known, dice == 9 && random_.below(3) == 0);
    if (dice < 14) return await_durable(id);
    if (dice == 14) return drop(id, known);
    if (dice == 15) return void(read_all(id, process_->store.find(id)->start));
    if (dice == 16) {
      ASSERT_TRUE(process_->journal->checkpoint().has_value());
      return;
    }
    clock_.advance(std::chrono::milliseconds(random_.below(3)));
    testing::run_ready(process_->io);
  }

  void make() {
    const auto id = StreamId::make({static_cast<std::int64_t>(++serial_) * 1'000'000}, random_);
    ASSERT_TRUE(process_->store.create(id, Incarnation::make(random_)).has_value());
    streams_[id];
  }

  void write(const StreamId& id, Known& known, bool completes) {
    if (known.complete) return;
    const Bytes payload = random_.bytes(1 + random_.below(400));
    const auto kind = completes ? RecordKind::result : RecordKind::standard_output;
    ASSERT_TRUE(process_->store.append(id, kind, {}, payload).has_value());
    known.written += payload;
    known.complete = completes;
  }

  void await_durable(const StreamId& id) {
    process_->waiters.spawn([this, id]() -> Task<void> {
      const auto durable = co_await process_->store.durable(id);
      EXPECT_TRUE(durable.has_value());
      if (durable) streams_.at(id).acknowledged = std::max(streams_.at(id).acknowledged, *durable);
    });
    testing::run_ready(process_->io);
  }

  void drop(const StreamId& id, Known& known) {
    if (known.acknowledged.offset == 0) return;
    const auto up_to = random_.below(known.acknowledged.offset + 1);
    ASSERT_TRUE(process_->store.drop(id, up_to).has_value());
    known.dropped = std::max(known.dropped, up_to);
  }

  void crash() {
    process_->disk.deaden();
    process_->io.die();
    process_ = nullptr;
    if (random_.below(3) > 0) image_.lose_power(random_);
  }

  testing::SeededRandom random_;
  testing::ManualClock clock_;
  MemoryDiskImage image_;
  std::unique_ptr<Process> process_;
  std::map<StreamId, Known> streams_;
  std::uint64_t serial_ = 0;
};

// proves B6
// proves X13
TEST(StreamCrash, WhenALifeEndsAnywhere_ThenTheAcknowledgedSurvivesAndTheRestIsAPrefix) {
  for (std::uint64_t seed = 1; seed <= 500 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    CrashRun(seed).run();
  }
}

}  // namespace
}  // namespace outhaul::stream
