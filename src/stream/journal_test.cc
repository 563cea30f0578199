#include "stream/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>

#include "stream/crc32c.h"
#include "stream/memory_disk.h"
#include "testing/manual_clock.h"
#include "testing/run_task.h"
#include "testing/seeded_random.h"

namespace outhaul::stream {
namespace {

using testing::run_task;

constexpr JournalType note_type = 40;

// Keeps notes; a note "-x" takes back the note "x".
class Notes final : public JournalOwner {
 public:
  bool owns(JournalType type) const override { return type == note_type; }
  Result<void> replay(JournalType, ByteView payload) override {
    take(Bytes(payload));
    return {};
  }
  Result<void> write_live(Journal& journal) override {
    for (const auto& note : notes) OUTHAUL_CHECK(journal.append(note_type, note));
    return {};
  }
  Result<JournalPosition> add(Journal& journal, const Bytes& note) {
    auto position = journal.append(note_type, note);
    if (position) take(note);
    return position;
  }
  std::vector<Bytes> notes;

 private:
  void take(const Bytes& note) {
    if (note.starts_with('-')) {
      std::erase(notes, note.substr(1));
    } else {
      notes.push_back(note);
    }
  }
};

class JournalTest : public ::testing::Test {
 protected:
  // A process: its disk's adapter, its owner and its journal, over the image that outlives it.
  struct Process {
    explicit Process(JournalTest& test) : disk(test.image, test.io.get_executor(), test.clock) {}
    MemoryDisk disk;
    Notes owner;
    std::unique_ptr<Journal> journal;
  };

  std::unique_ptr<Process> start() {
    auto process = try_start();
    EXPECT_TRUE(process.has_value()) << process.error().what();
    return process ? std::move(*process) : nullptr;
  }
  Result<std::unique_ptr<Process>> try_start(JournalConfig config = {}) {
    auto process = std::make_unique<Process>(*this);
    auto opened = run_task(io, Journal::open(process->disk, {&process->owner}, config));
    if (!opened) return fail(std::move(opened).error());
    process->journal = std::move(*opened);
    return process;
  }
  void add_durably(Process& process, const Bytes& note) {
    const auto position = process.owner.add(*process.journal, note);
    ASSERT_TRUE(position.has_value());
    ASSERT_TRUE(run_task(io, process.journal->durable(*position)).has_value());
  }
  Bytes& file() { return image.files.begin()->second->bytes; }

  asio::io_context io;
  testing::ManualClock clock;
  MemoryDiskImage image;
};

TEST_F(JournalTest, WhenTheDirectoryIsEmpty_ThenAJournalIsMade) {
  const auto process = start();

  EXPECT_EQ(process->journal->recovery().records, 0U);
  EXPECT_TRUE(image.files.contains("journal-0000000001"));
  EXPECT_TRUE(image.durable_entries.contains("journal-0000000001"));
}

TEST_F(JournalTest, WhenTheProcessIsKilled_ThenAllThatWasAppendedIsThere) {
  {
    const auto process = start();
    for (const auto* note : {"a", "", "b"})
      ASSERT_TRUE(process->owner.add(*process->journal, note).has_value());
  }

  const auto next = start();

  EXPECT_EQ(next->owner.notes, (std::vector<Bytes>{"a", "", "b"}));
  EXPECT_FALSE(next->journal->recovery().cut_offset.has_value());
}

// proves X63
TEST_F(JournalTest, WhenTheFileIsCutAtAnyByte_ThenEveryWholeRecordIsKeptAndTheCutIsReported) {
  std::vector<std::uint64_t> ends;
  {
    const auto process = start();
    for (int i = 0; i < 6; ++i) {
      ends.push_back(process->journal->file_bytes());
      add_durably(*process, "note " + std::to_string(i));
    }
  }
  const Bytes whole = file();
  for (std::size_t size = ends[0]; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    file() = whole.substr(0, size);

    const auto process = start();

    const auto kept = static_cast<std::size_t>(std::ranges::upper_bound(ends, size) - ends.begin() - 1);
    ASSERT_EQ(process->owner.notes.size(), kept);
    const auto& recovery = process->journal->recovery();
    EXPECT_EQ(recovery.cut_offset.has_value(), size != ends[kept]);
    if (recovery.cut_offset) EXPECT_EQ(*recovery.cut_offset, ends[kept]);
    EXPECT_EQ(recovery.cut_bytes, size - ends[kept]);
    add_durably(*process, "goes on");
  }
}

// Room that a FileDisk keeps ahead, which a killed process leaves behind.
TEST_F(JournalTest, WhenTheFileEndsInZeros_ThenTheyAreNoCutAndAppendingGoesOnBeforeThem) {
  add_durably(*start(), "first");
  const std::size_t end = file().size();
  file().append(300'000, '\0');

  const auto process = start();
  EXPECT_FALSE(process->journal->recovery().cut_offset.has_value());
  EXPECT_EQ(process->journal->file_bytes(), end);
  add_durably(*process, "second");

  EXPECT_EQ(start()->owner.notes, (std::vector<Bytes>{"first", "second"}));
}

TEST_F(JournalTest, WhenARecordIsTornWithinZeros_ThenTheCutIsReported) {
  add_durably(*start(), "first");
  const std::size_t end = file().size();
  add_durably(*start(), "second");
  file().resize(file().size() - 1);
  file().append(300'000, '\0');

  const auto process = start();

  EXPECT_EQ(process->owner.notes, std::vector<Bytes>{"first"});
  EXPECT_EQ(process->journal->recovery().cut_offset, end);
}

TEST_F(JournalTest, WhenItsFirstFileIsCutWhileBeingMade_ThenItIsMadeAnew) {
  start();
  const Bytes whole = file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    image.files.clear();
    image.files["journal-0000000001"] = std::make_shared<MemoryDiskImage::Content>();
    file() = whole.substr(0, size);

    const auto process = start();

    EXPECT_EQ(process->journal->recovery().cut_bytes, size);
    add_durably(*process, "goes on");
  }
}

// A directory that was in use has a journal: without one nothing is made, and nothing is touched.
TEST_F(JournalTest, WhenItIsMissingOrEmptyWhereOneMustBe_ThenItIsCorruptAndNothingIsTouched) {
  struct Case {
    const char* what;
    bool must_exist;
    bool has_journal;
    bool has_others;
  };
  const Case cases[] = {
      {"missing, known to be made", true, false, false},
      {"empty, known to be made", true, true, false},
      {"missing beside a segment", false, false, true},
      {"empty beside a segment", false, true, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    image.files.clear();
    if (c.has_journal) image.files["journal-0000000007"] = std::make_shared<MemoryDiskImage::Content>();
    if (c.has_others) image.files["seg-x"] = std::make_shared<MemoryDiskImage::Content>();
    const auto before = image.files;
    MemoryDisk disk(image, io.get_executor(), clock);

    const auto opened = run_task(io, Journal::open(disk, {}, {.must_exist = c.must_exist}));

    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), ErrorCode::journal_corrupt);
    EXPECT_EQ(opened.error().details().front().name, "file");
    EXPECT_EQ(image.files, before);
  }
}

TEST_F(JournalTest, WhenAByteBeforeTheEndIsDamaged_ThenItIsNamedAndTheFileIsLeftAlone) {
  std::uint64_t first_end = 0;
  std::uint64_t last_start = 0;
  {
    const auto process = start();
    add_durably(*process, "first");
    first_end = process->journal->file_bytes();
    add_durably(*process, "second");
    last_start = process->journal->file_bytes();
    add_durably(*process, "third");
  }
  const Bytes whole = file();
  for (std::size_t at = 0; at < last_start; ++at) {
    SCOPED_TRACE(at);
    file() = whole;
    file()[at] = static_cast<char>(file()[at] ^ 0x40);
    const Bytes damaged = file();

    const auto process = try_start();

    ASSERT_FALSE(process.has_value());
    EXPECT_EQ(process.error().code(), ErrorCode::journal_corrupt);
    EXPECT_NE(process.error().what().find("journal-0000000001"), Bytes::npos);
    if (at >= first_end) EXPECT_NE(process.error().what().find(std::to_string(first_end)), Bytes::npos);
    EXPECT_EQ(file(), damaged);
  }
}

TEST_F(JournalTest, WhenAnUnsyncedWriteLeftAHole_ThenItIsATornEndAndNotDamage) {
  std::uint64_t synced = 0;
  {
    const auto process = start();
    add_durably(*process, "kept");
    synced = process->journal->file_bytes();
    ASSERT_TRUE(process->owner.add(*process->journal, Bytes(3000, 'x')).has_value());
    ASSERT_TRUE(process->owner.add(*process->journal, "after the hole").has_value());
  }
  file().replace(synced, 2048, 2048, '\0');

  const auto process = start();

  EXPECT_EQ(process->owner.notes, std::vector<Bytes>{"kept"});
  EXPECT_EQ(process->journal->recovery().cut_offset, synced);
}

TEST_F(JournalTest, WhenAHoleIsWhereBytesWereDurable_ThenItIsDamage) {
  std::uint64_t start_of_large = 0;
  {
    const auto process = start();
    start_of_large = process->journal->file_bytes();
    add_durably(*process, Bytes(3000, 'x'));
    add_durably(*process, "after the hole");
  }
  file().replace(start_of_large, 2048, 2048, '\0');

  EXPECT_EQ(try_start().error().code(), ErrorCode::journal_corrupt);
}

TEST_F(JournalTest, WhenARecordHoldsAJournal_ThenATornRecordIsStillATornEnd) {
  {
    const auto process = start();
    add_durably(*process, "real");
  }
  const Bytes journal = file();
  {
    const auto process = start();
    ASSERT_TRUE(process->owner.add(*process->journal, journal + journal).has_value());
  }
  file().resize(file().size() - 1);

  const auto process = start();

  EXPECT_EQ(process->owner.notes, std::vector<Bytes>{"real"});
}

TEST_F(JournalTest, WhenTheVersionIsNewer_ThenItIsRefused) {
  start();
  Bytes header = journal_header(1);
  header[8] = 2;
  const auto crc = crc32c(ByteView(header).substr(0, 24));
  std::memcpy(header.data() + 24, &crc, sizeof crc);
  file().replace(0, header.size(), header);

  EXPECT_EQ(try_start().error().code(), ErrorCode::data_format_newer);
}

TEST_F(JournalTest, WhenATypeIsUnknown_ThenItIsRefused) {
  {
    const auto process = start();
    ASSERT_TRUE(process->journal->append(77, "of a later version").has_value());
  }

  EXPECT_EQ(try_start().error().code(), ErrorCode::journal_corrupt);
}

TEST_F(JournalTest, WhenASyncFails_ThenTheJournalIsPoisonedForGood) {
  const auto process = start();
  const auto position = process->owner.add(*process->journal, "a");
  process->disk.faults.fail_syncs = true;

  EXPECT_EQ(run_task(io, process->journal->durable(*position)).error().code(), ErrorCode::unavailable);
  process->disk.faults.fail_syncs = false;
  EXPECT_FALSE(run_task(io, process->journal->durable(*position)).has_value());
  EXPECT_FALSE(process->journal->append(note_type, "b").has_value());
  EXPECT_TRUE(process->journal->is_poisoned());
}

// proves X1
TEST_F(JournalTest, WhenTheDiskIsFull_ThenItSaysSoAndGoesOnWhenThereIsRoom) {
  const auto process = start();
  image.capacity = image.used_bytes() + 30;

  EXPECT_EQ(process->owner.add(*process->journal, Bytes(100, 'x')).error().code(), ErrorCode::disk_full);
  image.capacity += 1000;
  add_durably(*process, "fits");

  EXPECT_EQ(start()->owner.notes, std::vector<Bytes>{"fits"});
}

TEST_F(JournalTest, WhenTheFileHasGrown_ThenOnlyWhatIsLiveIsRewritten) {
  auto started = try_start({.min_checkpoint_bytes = 4096});
  auto& process = **started;
  add_durably(process, "stays");
  for (int i = 0; i < 40; ++i) {
    add_durably(process, Bytes(200, 'x'));
    add_durably(process, "-" + Bytes(200, 'x'));
  }

  EXPECT_LE(process.journal->file_bytes(), 5000U);
  EXPECT_EQ(image.files.size(), 1U);
  EXPECT_EQ(start()->owner.notes, std::vector<Bytes>{"stays"});
}

TEST_F(JournalTest, WhenACheckpointIsNotDurable_ThenTheOldFileStays) {
  const auto process = start();
  add_durably(*process, "a");

  ASSERT_TRUE(process->journal->checkpoint().has_value());
  EXPECT_EQ(image.files.size(), 2U);
  add_durably(*process, "b");

  EXPECT_EQ(image.files.size(), 1U);
  EXPECT_EQ(start()->owner.notes, (std::vector<Bytes>{"a", "b"}));
}

TEST_F(JournalTest, WhenACheckpointIsCutAtAnyByte_ThenTheFileBeforeItCounts) {
  {
    const auto process = start();
    add_durably(*process, "a");
    add_durably(*process, "b");
    ASSERT_TRUE(process->journal->checkpoint().has_value());
  }
  const auto old_file = image.files.at("journal-0000000001");
  const Bytes next = image.files.at("journal-0000000002")->bytes;
  for (std::size_t size = 0; size <= next.size(); ++size) {
    SCOPED_TRACE(size);
    image.files.clear();
    image.files["journal-0000000001"] = old_file;
    image.files["journal-0000000002"] = std::make_shared<MemoryDiskImage::Content>();
    image.files["journal-0000000002"]->bytes = next.substr(0, size);

    const auto process = start();

    EXPECT_EQ(process->owner.notes, (std::vector<Bytes>{"a", "b"}));
    EXPECT_EQ(image.files.size(), 1U);
  }
}

TEST_F(JournalTest, WhenACheckpointFindsNoRoom_ThenTheOldFileGoesOn) {
  const auto process = start();
  add_durably(*process, Bytes(500, 'x'));
  image.capacity = image.used_bytes() + 200;

  EXPECT_EQ(process->journal->checkpoint().error().code(), ErrorCode::disk_full);
  add_durably(*process, "b");

  EXPECT_EQ(start()->owner.notes.size(), 2U);
}

// One seed: notes are written, some are awaited, checkpoints happen, the power fails.
class CrashRun {
 public:
  explicit CrashRun(std::uint64_t seed) : random_(seed) {}

  void live() {
    asio::io_context io;
    MemoryDisk disk(image_, io.get_executor(), clock_);
    Notes owner;
    const JournalConfig config{.min_checkpoint_bytes = 300 + random_.below(600)};
    auto opened = run_task(io, Journal::open(disk, {&owner}, config));
    ASSERT_TRUE(opened.has_value()) << opened.error().what();
    judge(owner.notes);
    for (auto left = random_.below(30); left > 0; --left) write(io, **opened, owner);
    image_.lose_power(random_);
  }

 private:
  // All that was acknowledged, and a prefix of what was written after it.
  void judge(const std::vector<Bytes>& notes) {
    EXPECT_GE(notes.size(), acknowledged_);
    ASSERT_LE(notes.size(), written_.size());
    EXPECT_TRUE(std::ranges::equal(notes, written_ | std::views::take(notes.size())));
    written_ = notes;
    acknowledged_ = notes.size();
  }

  void write(asio::io_context& io, Journal& journal, Notes& owner) {
    const Bytes note = std::to_string(++serial_) + Bytes(random_.below(120), 'x');
    const auto position = owner.add(journal, note);
    ASSERT_TRUE(position.has_value());
    written_.push_back(note);
    if (random_.below(3) != 0) return;
    EXPECT_TRUE(run_task(io, journal.durable(*position)).has_value());
    acknowledged_ = written_.size();
  }

  testing::SeededRandom random_;
  testing::ManualClock clock_;
  MemoryDiskImage image_;
  std::size_t acknowledged_ = 0;
  std::vector<Bytes> written_;
  int serial_ = 0;
};

TEST(JournalCrash, WhenPowerFailsAnywhere_ThenWhatWasAcknowledgedSurvivesAndTheRestIsAPrefix) {
  for (std::uint64_t seed = 1; seed <= 400 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    CrashRun run(seed);
    for (int life = 0; life < 4 && !::testing::Test::HasFailure(); ++life) run.live();
  }
}

}  // namespace
}  // namespace outhaul::stream
