#include "stream/stream_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stream/memory_disk.h"
#include "stream/record_decoder.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"
#include "testing/seeded_random.h"

namespace outhaul::stream {
namespace {

using testing::run_task;

constexpr WallTime noon{1'767'268'800'000'000'000};

Bytes pattern(std::size_t size, std::size_t seed) {
  Bytes bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(seed * 17 + i * 31 + i / 253);
  return bytes;
}

class StreamStoreTest : public ::testing::Test {
 protected:
  struct Process {
    Process(StreamStoreTest& test, StreamStoreConfig config)
        : disk(test.image, test.io.get_executor(), test.clock), store(test.io.get_executor(), disk, config) {}
    MemoryDisk disk;
    StreamStore store;
    std::unique_ptr<Journal> journal;
  };

  // Small limits, so that a test reaches each with little data.
  static StreamStoreConfig small_limits() {
    return {.small_stream_bytes = 2000,
            .segment_bytes = 4000,
            .flush_bytes = 3000,
            .tail_bytes = 1500,
            .max_memory_bytes = 100'000,
            .quota_bytes = 1'000'000,
            .free_floor_bytes = 1000,
            .reserve_bytes = 500};
  }

  Result<std::unique_ptr<Process>> try_start(StreamStoreConfig config = small_limits()) {
    auto process = std::make_unique<Process>(*this, config);
    auto opened = run_task(io, Journal::open(process->disk, {&process->store}));
    if (!opened) return fail(std::move(opened).error());
    process->journal = std::move(*opened);
    OUTHAUL_CHECK(run_task(io, process->store.recover(*process->journal)));
    testing::run_ready(io);
    return process;
  }
  std::unique_ptr<Process> start(StreamStoreConfig config = small_limits()) {
    auto process = try_start(config);
    EXPECT_TRUE(process.has_value()) << process.error().what();
    return process ? std::move(*process) : nullptr;
  }
  void settle() {
    io.restart();
    testing::run_ready(io);
  }
  // Appends output in records of `step` bytes and gives all of it.
  Bytes write(StreamStore& store, std::size_t size, std::size_t step = 100) {
    const Bytes output = pattern(size, store.find(id)->end);
    for (std::size_t at = 0; at < size; at += step) {
      const auto part = ByteView(output).substr(at, step);
      EXPECT_TRUE(store.append(id, RecordKind::standard_output, noon, part).has_value());
      settle();
    }
    return output;
  }
  Bytes finish(StreamStore& store) {
    EXPECT_TRUE(store.append(id, RecordKind::result, noon, "result").has_value());
    EXPECT_TRUE(run_task(io, store.durable(id)).has_value());
    settle();
    return "result";
  }
  // Everything from `from` on, as a reader with this limit sees it.
  static Bytes read_all(StreamStore& store, const StreamId& id, std::uint64_t from,
                        std::size_t max_bytes = 1000) {
    Bytes payloads;
    for (;;) {
      const auto chunk = store.read(id, from, max_bytes);
      EXPECT_TRUE(chunk.has_value()) << chunk.error().what();
      if (!chunk || chunk->slices.empty()) return payloads;
      for (const auto& slice : chunk->slices) {
        for (ByteView rest = slice.view(); !rest.empty();) {
          const auto record = parse_record(rest);
          EXPECT_TRUE(record && record->header.offset == from);
          if (!record) return payloads;
          payloads += record->payload;
          from = record->end_offset();
          rest.remove_prefix(record->size());
        }
      }
      EXPECT_EQ(chunk->next.offset, from);
      if (chunk->next.complete) return payloads;
    }
  }

  asio::io_context io;
  testing::ManualClock clock;
  MemoryDiskImage image;
  testing::SeededRandom random{7};
  StreamId id = StreamId::make(noon, random);
  Incarnation incarnation = Incarnation::make(random);
};

TEST_F(StreamStoreTest, WhenRecordsAreAppended_ThenReadersSeeThemAtOnce) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());

  const Bytes output = write(process->store, 1000);

  EXPECT_EQ(read_all(process->store, id, 0), output);
  EXPECT_TRUE(process->store.find(id)->is_small);
  EXPECT_EQ(process->store.find(id)->durable.offset, 0U);
}

TEST_F(StreamStoreTest, WhenAStreamIsMadeAgain_ThenOnlyTheSameIncarnationIsAccepted) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());

  EXPECT_TRUE(process->store.create(id, incarnation).has_value());
  EXPECT_EQ(process->store.create(id, Incarnation::make(random)).error().code(), ErrorCode::conflict);
}

TEST_F(StreamStoreTest, WhenItGrowsLarge_ThenItMovesToSegmentsAndReadsTheSame) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());

  const Bytes output = write(process->store, 20'000, 333);

  EXPECT_FALSE(process->store.find(id)->is_small);
  for (const std::size_t limit : {1UL, 400UL, 1000UL, 100'000UL}) {
    EXPECT_EQ(read_all(process->store, id, 0, limit), output) << limit;
  }
}

// proves B6
TEST_F(StreamStoreTest, WhenReadingFromAnyOffset_ThenEveryByteFromThereComesOnce) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  const Bytes output = write(process->store, 9000, 333) + finish(process->store);

  for (std::uint64_t from = 0; from <= output.size(); from += 1 + from % 37) {
    ASSERT_EQ(read_all(process->store, id, from), output.substr(from)) << from;
  }
  ASSERT_TRUE(process->store.read(id, output.size(), 100)->next.complete);
}

TEST_F(StreamStoreTest, WhenAnOffsetIsOutside_ThenTheReaderLearnsWhy) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  write(process->store, 1000);
  ASSERT_TRUE(process->store.drop(id, 500).has_value());

  EXPECT_EQ(process->store.read(id, 499, 100).error().code(), ErrorCode::stream_gap);
  EXPECT_EQ(process->store.read(id, 1001, 100).error().code(), ErrorCode::invalid);
  EXPECT_EQ(process->store.read(StreamId::make(noon, random), 0, 100).error().code(), ErrorCode::not_found);
}

// proves X13
TEST_F(StreamStoreTest, WhenTheResultIsNotDurable_ThenNoReaderSeesIt) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  const Bytes output = write(process->store, 300);

  ASSERT_TRUE(process->store.append(id, RecordKind::result, noon, "result").has_value());
  EXPECT_EQ(read_all(process->store, id, 0), output);
  EXPECT_FALSE(process->store.read(id, 300, 100)->next.complete);
  const auto durable = run_task(io, process->store.durable(id));

  EXPECT_EQ(*durable, (StreamPosition{306, true}));
  EXPECT_EQ(read_all(process->store, id, 0), output + "result");
}

TEST_F(StreamStoreTest, WhenAReaderWaits_ThenItWakesForBytesForTheEndAndForForgetting) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  std::vector<std::string> woken;
  TaskGroup readers(io.get_executor());
  const auto wait = [&](std::uint64_t from) {
    readers.spawn([&, from]() -> Task<void> {
      const auto more = co_await process->store.wait_for_more(id, from);
      woken.push_back(std::to_string(from) + (more ? "" : " gone"));
    });
    settle();
  };

  wait(0);
  EXPECT_TRUE(woken.empty());
  write(process->store, 100);
  EXPECT_EQ(woken, std::vector<std::string>{"0"});
  wait(100);
  ASSERT_TRUE(process->store.append(id, RecordKind::end, noon, "").has_value());
  settle();
  EXPECT_EQ(woken.size(), 1U);
  ASSERT_TRUE(run_task(io, process->store.durable(id)).has_value());
  settle();
  EXPECT_EQ(woken.back(), "100");
  const StreamId other = StreamId::make(noon, random);
  ASSERT_TRUE(process->store.create(other, incarnation).has_value());
  id = other;
  wait(0);
  ASSERT_TRUE(process->store.forget(other).has_value());
  settle();
  EXPECT_EQ(woken.back(), "0 gone");
}

TEST_F(StreamStoreTest, WhenRecordsOfAnotherWriterCome_ThenEachByteIsKeptOnce) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  auto& store = process->store;
  const auto record = [](std::uint64_t offset, ByteView payload) {
    return EncodedRecord::make(RecordKind::standard_output, offset, noon, payload);
  };

  EXPECT_EQ(*store.append_encoded(id, record(0, "abc")), AppendOutcome::appended);
  EXPECT_EQ(*store.append_encoded(id, record(0, "abc")), AppendOutcome::duplicate);
  EXPECT_EQ(*store.append_encoded(id, record(1, "bcde")), AppendOutcome::appended);
  EXPECT_EQ(store.append_encoded(id, record(6, "g")).error().code(), ErrorCode::stream_gap);
  EXPECT_EQ(*store.append_encoded(id, EncodedRecord::make(RecordKind::end, 5, noon, "")),
            AppendOutcome::appended);
  EXPECT_EQ(*store.append_encoded(id, EncodedRecord::make(RecordKind::end, 5, noon, "")),
            AppendOutcome::duplicate);
  EXPECT_EQ(store.append_encoded(id, record(5, "f")).error().code(), ErrorCode::conflict);

  ASSERT_TRUE(run_task(io, store.durable(id)).has_value());
  EXPECT_EQ(read_all(store, id, 0), "abcde");
}

TEST_F(StreamStoreTest, WhenARunOfRecordsComes_ThenEachByteIsKeptOnceInOneWrite) {
  const auto process = start();
  auto& store = process->store;
  ASSERT_TRUE(store.create(id, incarnation).has_value());
  const auto record = [](std::uint64_t offset, ByteView bytes) {
    return EncodedRecord::make(RecordKind::standard_output, offset, noon, bytes);
  };
  const Bytes output = pattern(5000, 0);
  std::vector<EncodedRecord> run;
  for (std::size_t at = 0; at < output.size(); at += 500)
    run.push_back(record(at, ByteView(output).substr(at, 500)));
  const std::span<const EncodedRecord> all(run);
  const std::vector<EncodedRecord> overlapping{record(4900, pattern(200, 7)), record(5100, "xy")};
  const std::vector<EncodedRecord> ahead{record(6000, "z")};
  const std::vector<EncodedRecord> last{record(5102, "end"),
                                        EncodedRecord::make(RecordKind::end, 5105, noon, "")};

  ASSERT_TRUE(store.append_run(id, all.first(3)).has_value());
  EXPECT_TRUE(store.find(id)->is_small);
  ASSERT_TRUE(store.append_run(id, all).has_value());
  EXPECT_EQ(store.find(id)->end, output.size());
  ASSERT_TRUE(store.append_run(id, all).has_value());
  ASSERT_TRUE(store.append_run(id, overlapping).has_value());
  EXPECT_EQ(store.append_run(id, ahead).error().code(), ErrorCode::stream_gap);
  ASSERT_TRUE(store.append_run(id, last).has_value());
  ASSERT_TRUE(store.append_run(id, last).has_value());
  settle();

  EXPECT_FALSE(store.find(id)->is_small);
  EXPECT_TRUE(store.find(id)->complete);
  EXPECT_EQ(read_all(store, id, 0), output + pattern(200, 7).substr(100) + "xyend");
}

TEST_F(StreamStoreTest, WhenAWriterWaitsForReaders_ThenItGoesOnOnceTheyHaveRead) {
  const auto process = start();
  auto& store = process->store;
  ASSERT_TRUE(store.create(id, incarnation).has_value());
  const Bytes output = write(store, 1000);
  std::optional<bool> is_read;
  TaskGroup group(io.get_executor());
  group.spawn([&]() -> Task<void> { is_read = (co_await store.wait_for_readers(id, 300)).has_value(); });

  settle();
  EXPECT_EQ(store.unread_bytes(id), 1000U);
  EXPECT_FALSE(is_read);
  ASSERT_TRUE(store.read(id, 0, 500).has_value());
  settle();
  EXPECT_FALSE(is_read);
  ASSERT_TRUE(store.read(id, 500, 1000).has_value());
  settle();

  EXPECT_EQ(is_read, true);
  EXPECT_EQ(store.unread_bytes(id), 0U);
}

TEST_F(StreamStoreTest, WhenRecordsAreNone_ThenTheyAreInvalid) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  auto& store = process->store;

  EXPECT_EQ(store.append(id, RecordKind::standard_output, noon, "").error().code(), ErrorCode::invalid);
  EXPECT_EQ(store.append(id, RecordKind::event, noon, Bytes(65'537, 'x')).error().code(), ErrorCode::invalid);
  EXPECT_EQ(store.append(id, RecordKind::gap, noon, "12345678").error().code(), ErrorCode::invalid);
  EXPECT_EQ(store.append_gap(id, noon, 0).error().code(), ErrorCode::invalid);
  EXPECT_EQ(store.append_gap(id, noon, UINT64_MAX).error().code(), ErrorCode::too_large);
}

TEST_F(StreamStoreTest, WhenASmallStreamIsComplete_ThenItsBytesCanBeTakenAndItForgotten) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  const Bytes output = write(process->store, 300);
  EXPECT_EQ(process->store.take_small(id).error().code(), ErrorCode::conflict);
  finish(process->store);

  const auto taken = process->store.take_small(id);

  ASSERT_TRUE(taken.has_value());
  RecordDecoder decoder;
  decoder.feed(*taken);
  Bytes payloads;
  while (const auto record = *decoder.next()) payloads += record->payload();
  EXPECT_EQ(payloads, output + "result");
  ASSERT_TRUE(process->store.forget(id).has_value());
  EXPECT_FALSE(process->store.find(id).has_value());
  EXPECT_EQ(process->store.memory_bytes(), 0U);
  EXPECT_EQ(process->store.disk_bytes(), 0U);
  EXPECT_TRUE(start()->store.ids().empty());
}

TEST_F(StreamStoreTest, WhenALargeStreamIsForgotten_ThenItsFilesGo) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  write(process->store, 20'000, 500);
  EXPECT_GT(image.files.size(), 3U);

  ASSERT_TRUE(process->store.forget(id).has_value());
  settle();

  EXPECT_EQ(image.files.size(), 2U);  // the journal and the reserve
}

// Somebody else's journal, or an old one, does not name them: they may be all that is left of an output.
TEST_F(StreamStoreTest, WhenTheJournalDoesNotNameASegment_ThenItIsSetAsideAndReported) {
  MemoryDiskImage::Files segments;
  {
    const auto process = start();
    ASSERT_TRUE(process->store.create(id, incarnation).has_value());
    write(process->store, 20'000, 500);
    for (const auto& [name, content] : image.files) {
      if (name.starts_with(segment_prefix)) segments.emplace(name, content);
    }
  }
  ASSERT_GT(segments.size(), 2U);
  image.files.clear();
  start();
  for (const auto& [name, content] : segments) image.files.emplace(name, content);

  const auto next = start();

  ASSERT_EQ(next->store.recovery().set_aside.size(), segments.size());
  for (const auto& [name, content] : segments) {
    EXPECT_FALSE(image.files.contains(name));
    EXPECT_EQ(image.files.at("aside-1-" + name), content);
  }
  EXPECT_TRUE(start()->store.recovery().set_aside.empty());
}

// What the journal says is forgotten is garbage, also when a power loss undid its removal after a checkpoint.
TEST_F(StreamStoreTest, WhenAForgottenStreamsFilesComeBack_ThenTheyGo) {
  for (const bool with_checkpoint : {false, true}) {
    SCOPED_TRACE(with_checkpoint);
    id = StreamId::make(noon, random);
    MemoryDiskImage::Files before;
    {
      const auto process = start();
      ASSERT_TRUE(process->store.create(id, incarnation).has_value());
      write(process->store, 20'000, 500);
      before = image.files;
      ASSERT_TRUE(process->store.forget(id).has_value());
      if (with_checkpoint) ASSERT_TRUE(process->journal->checkpoint().has_value());
      settle();
    }
    for (const auto& [name, content] : before) {
      if (name.starts_with(segment_prefix)) image.files.emplace(name, content);
    }

    const auto next = start();

    EXPECT_GT(next->store.recovery().removed_files, 2U);
    EXPECT_TRUE(next->store.recovery().set_aside.empty());
    EXPECT_EQ(image.files.size(), 2U);  // the journal and the reserve
  }
}

TEST_F(StreamStoreTest, WhenTheReaderHasAcknowledged_ThenWholeSegmentsGo) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  const Bytes output = write(process->store, 20'000, 500);
  const auto files = image.files.size();

  ASSERT_TRUE(process->store.drop(id, 12'345).has_value());
  settle();

  const auto totals = *process->store.find(id);
  EXPECT_LT(image.files.size(), files);
  EXPECT_GT(totals.start, 8000U);
  EXPECT_LE(totals.start, 12'345U);
  EXPECT_EQ(read_all(process->store, id, 12'345), output.substr(12'345));
  const auto next = start();
  EXPECT_EQ(next->store.find(id)->start, totals.start);
  EXPECT_EQ(read_all(next->store, id, totals.start), output.substr(totals.start));
}

// proves B6
TEST_F(StreamStoreTest, WhenTheProcessIsKilled_ThenEveryByteIsThere) {
  for (const std::size_t size : {0UL, 100UL, 1700UL, 2100UL, 5000UL, 30'000UL}) {
    SCOPED_TRACE(size);
    id = StreamId::make(noon, random);
    Bytes output;
    {
      const auto process = start();
      ASSERT_TRUE(process->store.create(id, incarnation).has_value());
      output = write(process->store, size, 170);
    }

    const auto next = start();

    EXPECT_EQ(read_all(next->store, id, 0), output);
    EXPECT_EQ(next->store.find(id)->durable.offset, size);
    EXPECT_TRUE(next->store.recovery().cuts.empty());
    output += write(next->store, 1000);
    output += finish(next->store);
    EXPECT_EQ(read_all(next->store, id, 0), output);
    ASSERT_TRUE(next->journal->checkpoint().has_value());
    ASSERT_TRUE(run_task(io, next->journal->durable(next->journal->appended())).has_value());
    EXPECT_EQ(read_all(start()->store, id, 0), output);
  }
}

TEST_F(StreamStoreTest, WhenThePeerHoldsMore_ThenItsPositionIsAdoptedAndSurvives) {
  {
    const auto process = start();
    ASSERT_TRUE(process->store.create(id, incarnation).has_value());
    write(process->store, 5000);
    ASSERT_TRUE(process->store.adopt_position(id, {4000, false}).has_value());
    EXPECT_EQ(process->store.find(id)->end, 5000U);

    ASSERT_TRUE(process->store.adopt_position(id, {8000, false}).has_value());
    write(process->store, 300);
    settle();
  }
  const auto next = start();

  const auto totals = *next->store.find(id);
  EXPECT_EQ(totals.start, 8000U);
  EXPECT_EQ(totals.end, 8300U);
  ASSERT_TRUE(next->store.adopt_position(id, {9000, true}).has_value());
  EXPECT_TRUE(next->store.read(id, 9000, 10)->next.complete);
  EXPECT_TRUE(start()->store.find(id)->complete);
}

TEST_F(StreamStoreTest, WhenThePeerHoldsMoreThanTheOutput_ThenTheResultMovesBehindItAndSurvives) {
  for (const std::size_t size : {10U, 5000U}) {
    SCOPED_TRACE(size);
    id = StreamId::make(noon, random);
    const auto process = start();
    ASSERT_TRUE(process->store.create(id, incarnation).has_value());
    write(process->store, size);
    ASSERT_TRUE(process->store.append(id, RecordKind::result, noon, "the result").has_value());
    settle();

    ASSERT_TRUE(process->store.adopt_position(id, {size + 3, false}).has_value());
    settle();

    const auto chunk = process->store.read(id, size + 3, 1000);
    ASSERT_EQ(chunk->slices.size(), 1U);
    EXPECT_EQ(parse_record(chunk->slices[0].view())->payload, "the result");
    EXPECT_TRUE(chunk->next.complete);
    const auto totals = *start()->store.find(id);
    EXPECT_EQ(totals.end, size + 13);
    EXPECT_TRUE(totals.complete);
    EXPECT_EQ(totals.completing_bytes, 10U);
  }
}

TEST_F(StreamStoreTest, WhenMemoryRunsShort_ThenSmallStreamsMoveToFilesAndReadTheSame) {
  auto limits = small_limits();
  limits.max_memory_bytes = 10'000;
  const auto process = start(limits);
  std::map<StreamId, Bytes> outputs;
  for (int i = 0; i < 30; ++i) {
    id = StreamId::make(noon, random);
    ASSERT_TRUE(process->store.create(id, incarnation).has_value());
    outputs[id] = write(process->store, 900, 300);
    EXPECT_LE(process->store.memory_bytes(), 10'000U);
  }

  for (const auto& [stream, output] : outputs) EXPECT_EQ(read_all(process->store, stream, 0), output);
  const auto next = start(limits);
  for (const auto& [stream, output] : outputs) EXPECT_EQ(read_all(next->store, stream, 0), output);
}

TEST_F(StreamStoreTest, WhenTheQuotaIsUsedUp_ThenOrdinaryRecordsWaitAndTheResultStillFits) {
  auto limits = small_limits();
  limits.quota_bytes = 1000;
  const auto process = start(limits);
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  write(process->store, 700);

  EXPECT_EQ(process->store.append(id, RecordKind::standard_output, noon, Bytes(100, 'x')).error().code(),
            ErrorCode::exhausted);
  EXPECT_EQ(process->store.check_room(100).error().code(), ErrorCode::exhausted);
  EXPECT_TRUE(process->store.append(id, RecordKind::result, noon, "result").has_value());
  ASSERT_TRUE(process->store.forget(id).has_value());
  EXPECT_TRUE(process->store.check_room(100).has_value());
}

// proves X1
TEST_F(StreamStoreTest, WhenTheDiskIsFull_ThenTheReserveLetsTheResultThrough) {
  image.capacity = 40'000;
  auto limits = small_limits();
  limits.free_floor_bytes = 0;
  limits.reserve_bytes = 2000;
  const auto process = start(limits);
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  Bytes output;
  Result<EncodedRecord> last = fail(ErrorCode::internal, "none yet");
  do {
    last = process->store.append(id, RecordKind::standard_output, noon, Bytes(400, 'x'));
    if (last) output += Bytes(400, 'x');
    settle();
  } while (last);
  EXPECT_EQ(last.error().code(), ErrorCode::disk_full);
  image.capacity = image.used_bytes();

  output += finish(process->store);

  EXPECT_EQ(read_all(process->store, id, 0), output);
  image.capacity = 80'000;
  EXPECT_EQ(read_all(start(limits)->store, id, 0), output);
}

TEST_F(StreamStoreTest, WhenTheDiskIsBelowItsFloor_ThenItSaysSo) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  image.capacity = image.used_bytes() + 900;

  EXPECT_EQ(process->store.append(id, RecordKind::standard_output, noon, "x").error().code(),
            ErrorCode::disk_full);
  image.capacity += 100'000;
  EXPECT_TRUE(process->store.append(id, RecordKind::standard_output, noon, "x").has_value());
}

TEST_F(StreamStoreTest, WhenASyncFailsOnce_ThenItIsSaidAndANewProcessGoesOn) {
  {
    const auto process = start();
    ASSERT_TRUE(process->store.create(id, incarnation).has_value());
    EXPECT_FALSE(process->store.failed().is_set());
    process->disk.faults.fail_syncs = true;
    EXPECT_FALSE(run_task(io, process->store.durable(id)).has_value());
    process->disk.faults.fail_syncs = false;

    EXPECT_TRUE(process->store.failed().is_set());
    EXPECT_FALSE(run_task(io, process->store.durable(id)).has_value());
  }
  const auto next = start();
  EXPECT_TRUE(run_task(io, next->store.durable(id)).has_value());
}

TEST_F(StreamStoreTest, WhenASyncFails_ThenNothingIsClaimed) {
  const auto process = start();
  ASSERT_TRUE(process->store.create(id, incarnation).has_value());
  write(process->store, 100);
  process->disk.faults.fail_syncs = true;

  EXPECT_EQ(run_task(io, process->store.durable(id)).error().code(), ErrorCode::unavailable);
  process->disk.faults.fail_syncs = false;
  EXPECT_EQ(run_task(io, process->store.durable(id)).error().code(), ErrorCode::unavailable);
  EXPECT_EQ(process->store.find(id)->durable.offset, 0U);
}

}  // namespace
}  // namespace outhaul::stream
