#include "wire/frame.h"

#include <gtest/gtest.h>

#include <vector>

namespace outhaul::wire {
namespace {

Bytes header(std::uint32_t channel, int kind, int flags, std::size_t length) {
  Bytes bytes;
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>(channel >> shift & 255U));
  bytes.push_back(static_cast<char>(kind));
  bytes.push_back(static_cast<char>(flags));
  bytes.push_back(static_cast<char>(length & 255U));
  bytes.push_back(static_cast<char>(length >> 8U));
  return bytes;
}

// The error of the first frame that fails, or `no error`.
std::string first_fault(ByteView message) {
  FrameReader reader(message);
  for (;;) {
    const auto frame = reader.next();
    if (!frame) {
      EXPECT_EQ(frame.error().code(), ErrorCode::protocol_violation);
      return frame.error().what();
    }
    if (!*frame) return "no error";
  }
}

TEST(FrameReader, WhenAMessageHoldsManyFrames_ThenEachComesBackAsItWent) {
  const Bytes block(max_frame_payload_bytes, 'x');
  const std::vector<Frame> sent = {
      {.channel = 0, .kind = FrameKind::control, .more_follows = true, .payload = "part"},
      {.channel = 0, .kind = FrameKind::control, .payload = ""},
      {.channel = 1, .kind = FrameKind::open, .more_follows = true, .payload = "o"},
      {.channel = 1, .kind = FrameKind::open, .payload = "pen"},
      {.channel = 2, .kind = FrameKind::accept, .payload = "a"},
      {.channel = 4, .kind = FrameKind::refuse, .payload = "r"},
      {.channel = 0xfffffffe, .kind = FrameKind::data, .payload = block},
      {.channel = 3, .kind = FrameKind::finish, .payload = ""},
  };
  Bytes message;
  for (const auto& frame : sent) append_frame(message, frame);

  FrameReader reader(message);
  for (const auto& frame : sent) {
    const auto read = reader.next();
    ASSERT_TRUE(read.has_value() && read->has_value());
    EXPECT_EQ(**read, frame);
  }
  const auto end = reader.next();

  ASSERT_TRUE(end.has_value());
  EXPECT_FALSE(end->has_value());
}

TEST(FrameReader, WhenCreditAndResetAreRead_ThenTheySayWhatWasWritten) {
  Bytes message;
  append_credit(message, 7, 0x01020304);
  append_reset(message, 9, "channel_reset");

  FrameReader reader(message);
  const auto credit = reader.next().value().value();
  const auto reset = reader.next().value().value();

  EXPECT_EQ(credit_of(credit), 0x01020304U);
  EXPECT_EQ(reset.channel, 9U);
  EXPECT_EQ(reset_code_of(reset), "channel_reset");
}

// The layout is a contract: these bytes may not change.
TEST(AppendFrame, WhenWritten_ThenTheHeaderIsLittleEndian) {
  Bytes message;

  append_frame(message, {.channel = 0x0a0b0c0d, .kind = FrameKind::data, .payload = "hi"});

  EXPECT_EQ(message, Bytes("\x0d\x0c\x0b\x0a\x04\x00\x02\x00hi", 10));
}

TEST(FrameReader, WhenAFrameBreaksARule_ThenItIsAViolation) {
  struct Row {
    const char* reason;
    Bytes message;
    const char* fault;
  };
  const Bytes code = Bytes("\x02\x00", 2) + "ab";
  const std::vector<Row> rows = {
      {"one byte", "x", "cut header"},
      {"seven bytes", header(1, 4, 0, 1).substr(0, 7), "cut header"},
      {"no payload", header(1, 4, 0, 1), "cut payload"},
      {"short payload", header(1, 4, 0, 5) + "abcd", "cut payload"},
      {"kind 0", header(1, 0, 0, 0), "unknown kind"},
      {"kind 9", header(1, 9, 0, 0), "unknown kind"},
      {"kind 255", header(1, 255, 0, 0), "unknown kind"},
      {"flag 2", header(0, 8, 2, 1) + "a", "unknown flag"},
      {"flag 128", header(0, 8, 128, 1) + "a", "unknown flag"},
      {"data in parts", header(1, 4, 1, 1) + "a", "cannot be split"},
      {"accept in parts", header(1, 2, 1, 1) + "a", "cannot be split"},
      {"refuse in parts", header(1, 3, 1, 1) + "a", "cannot be split"},
      {"finish in parts", header(1, 6, 1, 0), "cannot be split"},
      {"empty part", header(0, 8, 1, 0), "empty part"},
      {"empty part of an open", header(1, 1, 1, 0), "empty part"},
      {"too long", header(1, 4, 0, 16385) + Bytes(16385, 'x'), "16384"},
      {"longest length", header(1, 4, 0, 65535) + Bytes(65535, 'x'), "16384"},
      {"data on channel 0", header(0, 4, 0, 1) + "a", "channel 0"},
      {"open on channel 0", header(0, 1, 0, 1) + "a", "channel 0"},
      {"credit on channel 0", header(0, 5, 0, 4) + "abcd", "channel 0"},
      {"control elsewhere", header(1, 8, 0, 1) + "a", "channel 0"},
      {"empty data", header(1, 4, 0, 0), "empty data"},
      {"short credit", header(1, 5, 0, 3) + "abc", "credit of another size"},
      {"long credit", header(1, 5, 0, 5) + "abcde", "credit of another size"},
      {"zero credit", header(1, 5, 0, 4) + Bytes(4, '\0'), "credit of nothing"},
      {"finish with payload", header(1, 6, 0, 1) + "a", "finish with a payload"},
      {"reset without code", header(1, 7, 0, 0), "reset"},
      {"reset of one byte", header(1, 7, 0, 1) + "a", "reset"},
      {"reset with an empty code", header(1, 7, 0, 2) + Bytes(2, '\0'), "reset"},
      {"reset longer than it says", header(1, 7, 0, 5) + code + "c", "reset"},
      {"reset shorter than it says", header(1, 7, 0, 3) + code.substr(0, 3), "reset"},
      {"reset in capitals", header(1, 7, 0, 4) + Bytes("\x02\x00", 2) + "AB", "reset"},
      {"reset with a newline", header(1, 7, 0, 4) + Bytes("\x02\x00", 2) + "a\n", "reset"},
      {"reset over its limit", header(1, 7, 0, 67) + Bytes("\x41\x00", 2) + Bytes(65, 'a'), "reset"},
      {"fault after a good frame", header(1, 4, 0, 1) + "a" + header(1, 0, 0, 0), "unknown kind"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);

    const auto fault = first_fault(row.message);

    EXPECT_NE(fault.find(row.fault), std::string::npos) << fault;
  }
}

TEST(FrameReader, WhenItHasFailed_ThenItFailsAgain) {
  const auto message = header(1, 0, 0, 0);
  FrameReader reader(message);

  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
}

}  // namespace
}  // namespace outhaul::wire
