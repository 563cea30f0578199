#include "http/write_pieces.h"

#include <gtest/gtest.h>

namespace outhaul::http {
namespace {

TEST(WritePieces, WhenAShortPieceComesFirst_ThenItSharesARecordWithTheNext) {
  const Bytes body(40'000, 'b');
  WritePieces pieces("head", body, "\r\n");
  WritePieces::Scratch scratch{};
  Bytes written;
  std::size_t records = 0;

  while (!pieces.is_empty()) {
    const auto record = pieces.next_record(scratch);
    EXPECT_LE(record.size(), WritePieces::max_record_bytes);
    written.append(record);
    pieces.consume(record.size());
    ++records;
  }

  EXPECT_EQ(written, "head" + body + "\r\n");
  EXPECT_EQ(records, 3U);
}

TEST(WritePieces, WhenARecordFitsInOnePiece_ThenItIsNotCopied) {
  const Bytes body(20'000, 'b');
  const WritePieces pieces(body, "tail", "");
  WritePieces::Scratch scratch{};

  EXPECT_EQ(pieces.next_record(scratch).data(), body.data());
}

TEST(WritePieces, WhenAskedAgainWithoutConsuming_ThenTheRecordIsTheSame) {
  WritePieces pieces("ab", "cd", "ef");
  WritePieces::Scratch scratch{};
  pieces.consume(3);

  const Bytes first(pieces.next_record(scratch));
  const Bytes second(pieces.next_record(scratch));

  EXPECT_EQ(first, "def");
  EXPECT_EQ(second, first);
}

}  // namespace
}  // namespace outhaul::http
