#include "audit/durable_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "audit/log_files.h"
#include "stream/memory_disk.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"
#include "testing/seeded_random.h"

namespace outhaul::audit {
namespace {

using stream::MemoryDisk;
using stream::MemoryDiskImage;
using testing::run_task;
using namespace std::chrono_literals;

class NoSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

class DurableLogTest : public ::testing::Test {
 protected:
  // A process over the image that outlives it.
  struct Process {
    Process(DurableLogTest& test, DurableLog::Config config)
        : test(test),
          disk(test.image, test.io.get_executor(), test.clock),
          log(DurableLog::Ports{test.io.get_executor(), test.clock, test.random, disk, test.log},
              std::move(config)) {}
    ~Process() {
      run_task(test.io, [](DurableLog& one) -> Task<bool> {
        co_await one.close();
        co_return true;
      }(log));
    }
    DurableLogTest& test;
    MemoryDisk disk;
    DurableLog log;
    std::unique_ptr<stream::Journal> journal;
  };

  DurableLog::Config config() const {
    DurableLog::Config config;
    config.log = "node_x";
    config.signer = {key_id_of(key.public_key()), &key};
    return config;
  }
  std::unique_ptr<Process> start() { return start(config()); }
  std::unique_ptr<Process> start(DurableLog::Config wanted) {
    auto process = std::make_unique<Process>(*this, std::move(wanted));
    process->journal = std::move(run_task(io, stream::Journal::open(process->disk, {&process->log})).value());
    EXPECT_TRUE(run_task(io, process->log.open(*process->journal)).has_value());
    return process;
  }
  static AuditEntry entry(int number) {
    return {AuditAction::task_accepted, "hub", "task_" + std::to_string(number)};
  }
  void add(Process& process, int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(process.log.append(entry(i)).has_value());
  }
  void settle(Process& process) { ASSERT_TRUE(run_task(io, process.log.settle()).has_value()); }
  MemoryDiskImage snapshot() const {
    MemoryDiskImage copy;
    for (const auto& [name, content] : image.files)
      copy.files[name] = std::make_shared<MemoryDiskImage::Content>(*content);
    for (const auto& [name, content] : image.durable_entries) {
      const auto found =
          std::ranges::find(image.files, content, [](const auto& file) { return file.second; });
      copy.durable_entries[name] = found == image.files.end()
                                       ? std::make_shared<MemoryDiskImage::Content>(*content)
                                       : copy.files[found->first];
    }
    return copy;
  }
  LogReport check(std::vector<Witnessed> witnessed = {}) {
    MemoryDisk disk(image, io.get_executor(), clock);
    DiskFiles files(disk);
    const auto view = read_journal_view(files).value();
    std::vector<crypto::TrustedKey> keys;
    keys.push_back({key_id_of(key.public_key()), key.verify_key()});
    return check_log(files, view, {"node_x", std::move(keys), std::move(witnessed)}).value();
  }
  Bytes* last_log_file() {
    Bytes* last = nullptr;
    for (auto& [name, content] : image.files) {
      if (is_log_file_name(name)) last = &content->bytes;
    }
    return last;
  }
  static std::string first_fault(const LogReport& report) {
    return report.is_whole() ? std::string() : report.findings.front().what;
  }

  asio::io_context io;
  testing::ManualClock clock;
  testing::SeededRandom random{3};
  NoSink sink;
  Log log{"test", clock, sink};
  crypto::SigningKey key = crypto::SigningKey::generate(random);
  MemoryDiskImage image;
};

TEST_F(DurableLogTest, WhenItIsEndedTwiceAtOnce_ThenNothingIsFiledTwice) {
  const auto process = start();
  add(*process, 5);
  process->disk.faults.sync_latency = 100ms;
  TaskGroup group(io.get_executor());
  for (int i = 0; i < 2; ++i) group.spawn([&log = process->log] { return log.close(); });
  for (int i = 0; i < 20; ++i) {
    testing::run_ready(io);
    clock.advance(100ms);
  }
  process->disk.faults.sync_latency = {};
  testing::run_ready(io);

  EXPECT_EQ(first_fault(check()), "");
  EXPECT_EQ(process->log.durable_head().tip, process->log.tip());
}

TEST_F(DurableLogTest, WhenOneWhoSettlesIsCancelled_ThenTheOthersGoOn) {
  const auto process = start();
  add(*process, 5);
  process->disk.faults.sync_latency = 100ms;
  TaskGroup leaver(io.get_executor());
  TaskGroup stayer(io.get_executor());
  std::optional<Result<void>> settled;
  leaver.spawn([&log = process->log]() -> Task<void> { static_cast<void>(co_await log.settle()); });
  testing::run_ready(io);
  stayer.spawn([&settled, &log = process->log]() -> Task<void> { settled = co_await log.settle(); });
  testing::run_ready(io);

  leaver.cancel();
  for (int i = 0; i < 20; ++i) {
    testing::run_ready(io);
    clock.advance(100ms);
  }
  process->disk.faults.sync_latency = {};
  testing::run_ready(io);

  ASSERT_TRUE(settled.has_value());
  EXPECT_TRUE(settled->has_value());
}

// proves N1
TEST_F(DurableLogTest, WhenAProcessEndsInOrder_ThenItsLogIsWholeAndSigned) {
  {
    const auto process = start();
    add(*process, 5);
  }

  const auto report = check();

  EXPECT_EQ(first_fault(report), "");
  EXPECT_EQ(report.entries, 5U);
  EXPECT_EQ(report.unsigned_records, 0U);
  EXPECT_EQ(report.files, 1U);
}

TEST_F(DurableLogTest, WhenTheNextProcessStarts_ThenTheChainGoesOn) {
  for (int life = 0; life < 4; ++life) {
    const auto process = start();
    add(*process, 3);
  }

  const auto report = check();

  EXPECT_EQ(first_fault(report), "");
  EXPECT_EQ(report.entries, 12U);
}

// An entry costs no sync of its own: it rides with the journal's.
TEST_F(DurableLogTest, WhenEntriesAreAppended_ThenTheyAreDurableWithTheJournal) {
  const auto process = start();
  add(*process, 1);
  const auto before = process->log.durable_head();

  ASSERT_TRUE(run_task(io, process->journal->durable(process->journal->appended())).has_value());

  EXPECT_LT(before.tip.sequence, process->log.tip().sequence);
  EXPECT_EQ(process->log.durable_head().tip, process->log.tip());
}

TEST_F(DurableLogTest, WhenASecondHasPassed_ThenACheckpointIsSignedOverWhatWasAdded) {
  const auto process = start();
  testing::run_ready(io);
  add(*process, 100);
  testing::run_ready(io);
  EXPECT_TRUE(process->log.signed_head().empty());

  clock.advance(1s);
  testing::run_ready(io);

  std::vector<crypto::TrustedKey> keys;
  keys.push_back({key_id_of(key.public_key()), key.verify_key()});
  const auto head = open_head(process->log.signed_head(), keys);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->tip.sequence, 101U);
  clock.advance(10s);
  testing::run_ready(io);
  EXPECT_EQ(process->log.tip().sequence, 102U);
}

// proves N1
TEST_F(DurableLogTest, WhenPowerIsLostAtAnyTime_ThenEverythingDurableIsThereAndTheLogIsWhole) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    image = MemoryDiskImage();
    testing::SeededRandom chance(seed);
    AuditHead promised;
    MemoryDiskImage dark;
    for (int life = 0; life < 3; ++life) {
      auto wanted = config();
      wanted.file_bytes = 2000 + chance.below(3000);
      wanted.sync_bytes = 1 + chance.below(2000);
      const auto process = start(std::move(wanted));
      ASSERT_GE(process->log.tip().sequence, promised.tip.sequence);
      const auto steps = chance.below(30);
      for (std::uint64_t step = 0; step < steps; ++step) {
        add(*process, 1 + static_cast<int>(chance.below(4)));
        if (chance.below(3) == 0) settle(*process);
        if (chance.below(4) == 0) ASSERT_TRUE(run_task(io, process->log.durable()).has_value());
        if (chance.below(20) == 0) ASSERT_TRUE(process->journal->checkpoint().has_value());
      }
      promised = process->log.durable_head();
      dark = snapshot();
      dark.lose_power(chance);
    }
    image = dark;
    const auto process = start();
    settle(*process);

    const auto report = check({{"hub", promised, {}}});

    ASSERT_EQ(first_fault(report), "");
    image = MemoryDiskImage(image);
  }
}

TEST_F(DurableLogTest, WhenTheLastFileIsTornAtAnyByte_ThenItIsCutThereAndTheJournalHasTheRest) {
  MemoryDiskImage before;
  {
    const auto process = start();
    add(*process, 4);
    settle(*process);
    before = snapshot();
  }
  const auto size = before.files.rbegin()->second->bytes.size();
  image = before;
  const auto whole = last_log_file()->size();
  for (std::size_t length = 0; length < whole; length += 7) {
    SCOPED_TRACE(length);
    image = before;
    image = snapshot();
    last_log_file()->resize(length);
    const auto process = start();
    settle(*process);

    const auto report = check();

    ASSERT_EQ(first_fault(report), "");
    EXPECT_GE(report.entries, 4U);
  }
  EXPECT_GT(size, 0U);
}

// proves N1
TEST_F(DurableLogTest, WhenDurableRecordsAreDamaged_ThenTheLogGoesOnBehindThemAndTheyStayNamed) {
  {
    const auto process = start();
    add(*process, 4);
  }
  const auto healthy = check();
  (*last_log_file())[200] = static_cast<char>((*last_log_file())[200] ^ 1);
  {
    const auto process = start();
    add(*process, 2);
    EXPECT_GT(process->log.tip().sequence, healthy.tip.sequence);
  }

  const auto report = check();

  ASSERT_FALSE(report.is_whole());
  EXPECT_EQ(report.findings[0].file, log_file_name(1));
  EXPECT_GT(report.findings[0].offset, 0U);
  EXPECT_LE(report.findings[0].offset, 200U);
}

// proves X64
TEST_F(DurableLogTest, WhenTheTailOfADurableLogIsCut_ThenItsOwnJournalShowsIt) {
  {
    const auto process = start();
    add(*process, 4);
  }
  auto& bytes = *last_log_file();
  std::vector<std::size_t> ends;
  for (std::size_t at = log_file_header_bytes; at < bytes.size();) {
    ends.push_back(at);
    at += parse_record(ByteView(bytes).substr(at))->size();
  }

  bytes.resize(ends.back());

  const auto report = check();
  ASSERT_FALSE(report.is_whole());
  EXPECT_EQ(report.findings[0].file, log_file_name(1));
  EXPECT_EQ(report.findings[0].offset, ends.back());
  EXPECT_NE(first_fault(report).find("the process had filed record"), std::string::npos);
}

TEST_F(DurableLogTest, WhenTheEpochHasRisen_ThenTheLogStartsWithASignedRestoredRecord) {
  {
    const auto process = start();
    add(*process, 4);
  }
  auto wanted = config();
  wanted.epoch = 2;
  {
    const auto process = start(wanted);
  }
  {
    const auto process = start(wanted);
  }

  const auto report = check();

  EXPECT_EQ(first_fault(report), "");
  ASSERT_EQ(report.notices.size(), 1U);
  EXPECT_NE(report.notices[0].what.find("log.restored epoch=2 kept_until=6"), std::string::npos)
      << report.notices[0].what;
  EXPECT_EQ(report.unsigned_records, 0U);
}

TEST_F(DurableLogTest, WhenTheKeyChanges_ThenTheLogNamesTheNewOne) {
  {
    const auto process = start();
    add(*process, 1);
  }
  auto other = crypto::SigningKey::generate(random);
  auto wanted = config();
  wanted.signer = {key_id_of(other.public_key()), &other};
  {
    const auto process = start(wanted);
  }
  MemoryDisk disk(image, io.get_executor(), clock);
  DiskFiles files(disk);

  const auto named_by_the_log =
      check_log(files, read_journal_view(files).value(), {"node_x", {}, {}}).value();
  const auto only_the_first = check();

  EXPECT_EQ(first_fault(named_by_the_log), "");
  EXPECT_EQ(named_by_the_log.public_key, other.public_key());
  EXPECT_EQ(first_fault(only_the_first), "no trusted key signed the last checkpoint");
}

TEST_F(DurableLogTest, WhenTheDiskIsFull_ThenNothingIsAppendedAndTheChainGoesOnAfterwards) {
  const auto process = start();
  add(*process, 1);
  const auto tip = process->log.tip();

  process->disk.faults.fail_appends = true;
  EXPECT_FALSE(process->log.append(entry(9)).has_value());
  EXPECT_FALSE(run_task(io, process->log.settle()).has_value());
  process->disk.faults.fail_appends = false;

  EXPECT_EQ(process->log.tip(), tip);
  add(*process, 1);
  settle(*process);
  EXPECT_EQ(first_fault(check()), "");
}

TEST_F(DurableLogTest, WhenFilesAreFull_ThenTheNextBeginsAndAllAreRead) {
  auto wanted = config();
  wanted.file_bytes = 1000;
  {
    const auto process = start(wanted);
    for (int i = 0; i < 20; ++i) {
      add(*process, 3);
      settle(*process);
    }
  }

  const auto report = check();

  EXPECT_EQ(first_fault(report), "");
  EXPECT_GT(report.files, 5U);
  EXPECT_EQ(report.entries, 60U);
}

// proves X64
TEST_F(DurableLogTest, WhenTheLogIsLargerThanWhatIsKept_ThenItsOldestFilesGoAndAnyOtherIsMissed) {
  auto wanted = config();
  wanted.file_bytes = 1000;
  wanted.keep_bytes = 4000;
  Witnessed old{"hub", {}, {}};
  for (int life = 0; life < 3; ++life) {
    const auto process = start(wanted);
    if (life == 0) {
      add(*process, 1);
      settle(*process);
      old.head = process->log.durable_head();
    }
    for (int i = 0; i < 20; ++i) {
      add(*process, 3);
      settle(*process);
    }
  }

  const auto report = check({old});
  std::uint64_t bytes = 0;
  for (const auto& [name, content] : image.files) bytes += is_log_file_name(name) ? content->bytes.size() : 0;

  EXPECT_EQ(first_fault(report), "");
  EXPECT_FALSE(image.files.contains(log_file_name(1)));
  EXPECT_LT(bytes, 8000U);
  EXPECT_EQ(report.notices.back().what.substr(0, 11), "log.trimmed");
  EXPECT_EQ(report.notices.front().what, "hub holds a head of a record that is no longer kept");

  const auto first =
      std::ranges::find_if(image.files, [](const auto& file) { return is_log_file_name(file.first); });
  image.files.erase(first);
  EXPECT_NE(first_fault(check()).find("are missing before this file"), std::string::npos);
}

}  // namespace
}  // namespace outhaul::audit
