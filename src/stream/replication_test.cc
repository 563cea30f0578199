#include "stream/replication.h"

#include <gtest/gtest.h>

namespace outhaul::stream {
namespace {

RecordHeader output_at(std::uint64_t offset, std::uint32_t length) {
  return {.kind = RecordKind::standard_output, .length = length, .offset = offset, .time = {}, .crc = 0};
}
RecordHeader result_at(std::uint64_t offset, std::uint32_t length) {
  return {.kind = RecordKind::result, .length = length, .offset = offset, .time = {}, .crc = 0};
}

ReaderCursor reader_at(StreamPosition position, std::uint64_t from = 0) {
  const ReaderCursor::Peer peer{.incarnation = {}, .from = from, .dropped_before = 0};
  const ReaderCursor::Held held{.incarnation = {}, .position = position};
  return ReaderCursor::open(peer, held)->first;
}

TEST(WriterCursor, WhenTheStreamIsNew_ThenItSendsFromTheStartAtOnce) {
  WriterCursor writer({0, false});
  const WriterHoldings held{.start = 0, .end = 100, .complete = false};

  const auto opening = writer.open(held);

  EXPECT_EQ(opening.from, 0U);
  EXPECT_EQ(writer.next(held, 64)->from, 0U);
  EXPECT_EQ(writer.next(held, 64)->max_bytes, 64U);
  EXPECT_FALSE(writer.next(held, 0).has_value());
}

TEST(WriterCursor, WhenAllIsSent_ThenItWaitsUntilThereIsMore) {
  WriterCursor writer({0, false});
  (void)writer.open({.start = 0, .end = 100, .complete = false});

  writer.sent({100, false});

  EXPECT_FALSE(writer.next({.start = 0, .end = 100, .complete = false}, 64).has_value());
  EXPECT_FALSE(writer.is_past({.start = 0, .end = 100, .complete = false}));
  EXPECT_TRUE(writer.is_past({.start = 0, .end = 99, .complete = true}));
  EXPECT_EQ(writer.next({.start = 0, .end = 101, .complete = false}, 64)->from, 100U);
  EXPECT_EQ(writer.next({.start = 0, .end = 100, .complete = true}, 64)->from, 100U);
  writer.sent({100, true});
  EXPECT_FALSE(writer.next({.start = 0, .end = 100, .complete = true}, 64).has_value());
}

// A node without power loses output that the hub has, and then writes a result where that output stood.
TEST(WriterCursor, WhenTheReaderStandsInsideTheCompletingRecord_ThenItsPositionIsAdopted) {
  const WriterHoldings held{.start = 0, .end = 150, .complete = true, .completing_bytes = 140};
  WriterCursor writer({12, false});

  const auto opening = writer.open(held);
  const auto acceptance = writer.accept({12, false}, held);

  EXPECT_EQ(opening.from, 10U);
  EXPECT_EQ(*acceptance, WriterCursor::Acceptance::adopt);
  EXPECT_EQ(writer.position(), (StreamPosition{12, false}));
}

TEST(ReaderCursor, WhenACompletingRecordBeginsBeforeItsPosition_ThenItIsNotCutButIgnored) {
  auto reader = reader_at({12, false}, 10);

  EXPECT_EQ(*reader.offer(result_at(10, 140), 140), ReaderCursor::Verdict::ignore);
  EXPECT_EQ(reader.position(), (StreamPosition{12, false}));
  EXPECT_EQ(*reader.offer(result_at(12, 140), 140), ReaderCursor::Verdict::append);
}

// proves B6
TEST(WriterCursor, WhenTheReaderStandsElsewhere_ThenSendingGoesOnThere) {
  const WriterHoldings held{.start = 10, .end = 100, .complete = true};
  struct Row {
    const char* name;
    std::uint64_t reader;
    std::uint64_t next;
  };
  // The writer knew of 40 and has sent up to 60.
  for (const auto& row :
       {Row{"a restored reader is behind", 20, 20}, Row{"just there", 40, 60},
        Row{"it has had some of it", 50, 60}, Row{"it is ahead of what was sent", 80, 80}}) {
    SCOPED_TRACE(row.name);
    WriterCursor writer({40, false});
    ASSERT_EQ(writer.open(held).from, 40U);
    writer.sent({60, false});

    const auto accepted = writer.accept({row.reader, false}, held);

    ASSERT_TRUE(accepted.has_value());
    EXPECT_EQ(*accepted, WriterCursor::Acceptance::go_on);
    EXPECT_EQ(writer.next(held, 1)->from, row.next);
  }
}

// proves B6
TEST(WriterCursor, WhenTheReaderHoldsMoreThanARecoveredWriter_ThenItsCopyWins) {
  WriterCursor writer({0, false});
  const WriterHoldings held{.start = 0, .end = 100, .complete = false};
  (void)writer.open(held);

  EXPECT_EQ(*writer.accept({150, false}, held), WriterCursor::Acceptance::adopt);
  EXPECT_EQ(writer.position().offset, 150U);
  EXPECT_EQ(writer.next({.start = 150, .end = 160, .complete = false}, 64)->from, 150U);
}

TEST(WriterCursor, WhenTheReaderHasEverything_ThenItIsFinished) {
  WriterCursor writer({0, false});
  const WriterHoldings held{.start = 0, .end = 100, .complete = true};
  (void)writer.open(held);

  EXPECT_EQ(*writer.accept({100, true}, held), WriterCursor::Acceptance::finished);
  EXPECT_FALSE(writer.next(held, 64).has_value());
}

TEST(WriterCursor, WhenTheReaderClaimsWhatCannotBe_ThenItIsAViolation) {
  WriterCursor writer({50, false});
  const WriterHoldings held{.start = 50, .end = 100, .complete = false};
  (void)writer.open(held);
  writer.sent({80, false});

  EXPECT_FALSE(writer.accept({49, false}, held).has_value());
  EXPECT_FALSE(writer.acknowledge({81, false}, held).has_value());
  EXPECT_FALSE(writer.acknowledge({80, true}, held).has_value());
}

TEST(WriterCursor, WhenAcknowledgementsComeLate_ThenNothingGoesBack) {
  WriterCursor writer({0, false});
  const WriterHoldings held{.start = 0, .end = 100, .complete = false};
  (void)writer.open(held);
  writer.sent({100, false});

  EXPECT_EQ(*writer.acknowledge({70, false}, held), 70U);
  EXPECT_EQ(*writer.acknowledge({30, false}, held), 70U);
  EXPECT_EQ(writer.acknowledged().offset, 70U);
}

TEST(ReaderCursor, WhenTheIncarnationIsAnother_ThenItIsAConflict) {
  const ReaderCursor::Peer peer{
      .incarnation = *Incarnation::parse("12345678"), .from = 0, .dropped_before = 0};
  const ReaderCursor::Held held{.incarnation = *Incarnation::parse("12345679"), .position = {}};

  EXPECT_EQ(ReaderCursor::open(peer, held).error().code(), ErrorCode::conflict);
}

TEST(ReaderCursor, WhenTheWriterHasDroppedWhatIsMissingHere_ThenAGapIsRecordedAndItGoesOn) {
  const ReaderCursor::Peer peer{.incarnation = {}, .from = 100, .dropped_before = 90};
  const ReaderCursor::Held held{.incarnation = {}, .position = {30, false}};

  auto opened = ReaderCursor::open(peer, held);

  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ(opened->second.gap_bytes, 60U);
  EXPECT_EQ(opened->second.position.offset, 90U);
  EXPECT_EQ(*opened->first.offer(output_at(100, 5), 5), ReaderCursor::Verdict::ignore);
  EXPECT_EQ(*opened->first.offer(output_at(90, 10), 10), ReaderCursor::Verdict::append);
  EXPECT_EQ(*opened->first.offer(output_at(100, 5), 5), ReaderCursor::Verdict::append);
}

TEST(ReaderCursor, WhenTheWriterOpensBeforeWhatItHolds_ThenItIsAViolation) {
  const ReaderCursor::Peer peer{.incarnation = {}, .from = 10, .dropped_before = 11};

  EXPECT_EQ(ReaderCursor::open(peer, {}).error().code(), ErrorCode::protocol_violation);
}

// proves B6
TEST(ReaderCursor, WhenRecordsComeAgain_ThenEachByteIsTakenOnce) {
  auto reader = reader_at({50, false});

  EXPECT_EQ(*reader.offer(output_at(0, 40), 40), ReaderCursor::Verdict::ignore);
  EXPECT_EQ(*reader.offer(output_at(40, 10), 10), ReaderCursor::Verdict::ignore);
  EXPECT_EQ(*reader.offer(output_at(45, 10), 10), ReaderCursor::Verdict::append_tail);
  EXPECT_EQ(*reader.offer(output_at(55, 5), 5), ReaderCursor::Verdict::append);
  EXPECT_EQ(*reader.offer(result_at(60, 0), 0), ReaderCursor::Verdict::append);
  EXPECT_EQ(reader.position(), (StreamPosition{60, true}));
}

TEST(ReaderCursor, WhenBytesAreMissing_ThenItIsAGapAndNothingMoves) {
  auto reader = reader_at({50, false});

  EXPECT_EQ(reader.offer(output_at(51, 5), 5).error().code(), ErrorCode::stream_gap);
  EXPECT_EQ(reader.position().offset, 50U);
}

TEST(ReaderCursor, WhenTheWriterBeganAhead_ThenItsFirstRecordsAreLeftUntilItRewinds) {
  auto reader = reader_at({50, false}, 80);

  EXPECT_EQ(*reader.offer(output_at(80, 5), 5), ReaderCursor::Verdict::ignore);
  EXPECT_EQ(*reader.offer(output_at(50, 30), 30), ReaderCursor::Verdict::append);
  EXPECT_EQ(*reader.offer(output_at(80, 5), 5), ReaderCursor::Verdict::append);
  EXPECT_FALSE(reader.offer(output_at(90, 5), 5).has_value());
}

TEST(ReaderCursor, WhenTheStreamIsComplete_ThenItsEndMayComeAgainAndNothingMore) {
  auto reader = reader_at({60, true});

  EXPECT_EQ(*reader.offer(result_at(50, 10), 10), ReaderCursor::Verdict::ignore);
  EXPECT_EQ(*reader.offer(result_at(60, 0), 0), ReaderCursor::Verdict::ignore);
  EXPECT_FALSE(reader.offer(output_at(60, 1), 1).has_value());
  EXPECT_FALSE(reader.offer(output_at(61, 1), 1).has_value());
}

TEST(ReaderCursor, WhenAnOldRecordClaimsToComplete_ThenItIsIgnored) {
  auto reader = reader_at({60, false});

  EXPECT_EQ(*reader.offer(result_at(50, 10), 10), ReaderCursor::Verdict::ignore);
  EXPECT_FALSE(reader.position().complete);
}

}  // namespace
}  // namespace outhaul::stream
