#include "http/websocket_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace outhaul::http {
namespace {

constexpr std::size_t max_bytes = 70'000;
using Event = WebSocketDecoder::Event;
using Kind = WebSocketDecoder::EventKind;

// Feeds `input` as reads of at most `piece_size` bytes. The first failure ends it.
Result<std::vector<Event>> decode(WebSocketRole receiver, ByteView input, std::size_t piece_size = 4096) {
  WebSocketDecoder decoder(receiver, max_bytes);
  std::vector<Event> events;
  while (!input.empty()) {
    const auto room = decoder.prepare();
    const auto count = std::min({room.size(), input.size(), piece_size});
    std::memcpy(room.data(), input.data(), count);
    input.remove_prefix(count);
    OUTHAUL_TRY(event, decoder.commit(count));
    if (event) events.push_back(std::move(*event));
  }
  return events;
}

Bytes frame(WebSocketRole sender, WebSocketOpcode opcode, ByteView payload) {
  return Bytes(make_websocket_header(sender, opcode, payload.size()).view()).append(payload);
}

TEST(WebSocketCodec, WhenMessagesAreOfAnySize_ThenTheyComeBackAtAnyPieceSize) {
  for (const std::size_t size :
       std::initializer_list<std::size_t>{0, 1, 16, 29, 125, 126, 65535, 65536, 65664}) {
    for (const auto sender : {WebSocketRole::client, WebSocketRole::server}) {
      SCOPED_TRACE(size);
      const auto receiver = sender == WebSocketRole::client ? WebSocketRole::server : WebSocketRole::client;
      Bytes payload(size, 'x');
      if (size > 0) payload.back() = 'y';
      const Bytes input =
          frame(sender, WebSocketOpcode::binary, payload) + frame(sender, WebSocketOpcode::ping, "p");

      const auto whole = decode(receiver, input);
      const auto by_byte = decode(receiver, input, 1);

      for (const auto* events : {&whole, &by_byte}) {
        ASSERT_TRUE(*events);
        ASSERT_EQ((*events)->size(), 2U);
        EXPECT_EQ((**events)[0].kind, Kind::message);
        EXPECT_EQ((**events)[0].payload, payload);
        EXPECT_EQ((**events)[1].kind, Kind::ping);
      }
    }
  }
}

// RFC 6455 5.7: examples.
TEST(WebSocketCodec, WhenAFrameIsMasked_ThenItIsUnmasked) {
  const Bytes masked_hello("\x82\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11);
  for (const std::size_t piece : {1U, 2U, 11U}) {
    SCOPED_TRACE(piece);

    const auto events = decode(WebSocketRole::server, masked_hello, piece);

    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 1U);
    EXPECT_EQ(events->front().payload, "Hello");
  }
}

TEST(WebSocketCodec, WhenAMessageIsFragmented_ThenItIsJoinedAroundControlFrames) {
  const Bytes input("\x02\x03Hel\x89\x01p\x00\x00\x80\x02lo", 14);

  const auto events = decode(WebSocketRole::client, input, 1);

  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ((*events)[0].kind, Kind::ping);
  EXPECT_EQ((*events)[0].payload, "p");
  EXPECT_EQ((*events)[1].kind, Kind::message);
  EXPECT_EQ((*events)[1].payload, "Hello");
}

TEST(WebSocketCodec, WhenTheClientMasks_ThenTheKeyIsZeroAndThePayloadUntouched) {
  const Bytes bytes = frame(WebSocketRole::client, WebSocketOpcode::binary, "abc");

  EXPECT_EQ(bytes, Bytes("\x82\x83\0\0\0\0abc", 9));
}

TEST(WebSocketCodec, WhenClosed_ThenCodeAndReasonAreRead) {
  const auto with_code = decode(WebSocketRole::client, frame(WebSocketRole::server, WebSocketOpcode::close,
                                                             make_close_payload(1001, "bye")));
  const auto without =
      decode(WebSocketRole::client, frame(WebSocketRole::server, WebSocketOpcode::close, ""));

  ASSERT_TRUE(with_code);
  EXPECT_EQ(with_code->front().close_code, 1001);
  EXPECT_EQ(with_code->front().payload, "bye");
  ASSERT_TRUE(without);
  EXPECT_EQ(without->front().close_code, websocket_close::none);
}

TEST(WebSocketCodec, WhenACloseReasonIsLong_ThenItIsCutAtACharacter) {
  const std::string reason = std::string(122, 'a') + "\xc3\xa9";

  EXPECT_EQ(make_close_payload(1000, reason).size(), 2U + 122U);
}

TEST(WebSocketCodec, WhenFramesAreHostile_ThenTheyAreRefused) {
  struct Row {
    const char* reason;
    WebSocketRole receiver;
    Bytes input;
    ErrorCode code;
  };
  const auto violation = ErrorCode::protocol_violation;
  const auto client = WebSocketRole::client;
  const auto server = WebSocketRole::server;
  const std::vector<Row> rows = {
      {"reserved bit 1", client, "\xc2\x01x", violation},
      {"reserved bit 3", client, "\x92\x01x", violation},
      {"reserved data opcode", client, "\x83\x01x", violation},
      {"reserved control opcode", client, "\x8b\x01x", violation},
      {"text", client, "\x81\x01x", violation},
      {"masked from a server", client, Bytes("\x82\x81\0\0\0\0x", 7), violation},
      {"unmasked from a client", server, "\x82\x01x", violation},
      {"unmasked empty from a client", server, Bytes("\x82\x00", 2), violation},
      {"continuation of nothing", client, "\x80\x01x", violation},
      {"message inside a message", client, "\x02\x01x\x82\x01y", violation},
      {"fragmented ping", client, "\x09\x01x", violation},
      {"fragmented close", client, Bytes("\x08\x00", 2), violation},
      {"long ping", client, Bytes("\x89\x7e\x00\x7e", 4), violation},
      {"two-byte length that fits one", client, Bytes("\x82\x7e\x00\x7d", 4), violation},
      {"eight-byte length that fits two", client, Bytes("\x82\x7f\0\0\0\0\0\0\xff\xff", 10), violation},
      {"length of 2^63", client, Bytes("\x82\x7f\x80\0\0\0\0\0\0\0", 10), ErrorCode::too_large},
      {"over the limit", client, Bytes("\x82\x7f\0\0\0\0\0\x01\x11\x71", 10), ErrorCode::too_large},
      {"over the limit in two parts", client,
       Bytes("\x02\x7e\xff\xff", 4) + Bytes(65535, 'x') + Bytes("\x80\x7e\x11\x72", 4), ErrorCode::too_large},
      {"half a close code", client, "\x88\x01\x03", violation},
      {"close code 1005", client, "\x88\x02\x03\xed", violation},
      {"close code 1006", client, "\x88\x02\x03\xee", violation},
      {"close code 999", client, "\x88\x02\x03\xe7", violation},
      {"close code 5000", client, "\x88\x02\x13\x88", violation},
      {"close reason not UTF-8", client, "\x88\x03\x03\xe8\xff", violation},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    for (const std::size_t piece : {1U, 1U << 20}) {
      const auto events = decode(row.receiver, row.input, piece);

      ASSERT_FALSE(events);
      EXPECT_EQ(events.error().code(), row.code);
    }
  }
}

TEST(WebSocketCodec, WhenAMessageHasTooManyFragments_ThenItIsRefused) {
  Bytes input("\x02\x01x");
  for (std::size_t i = 1; i < WebSocketDecoder::max_fragments; ++i) input.append(Bytes("\x00\x01x", 3));
  ASSERT_TRUE(decode(WebSocketRole::client, input));

  input.append(Bytes("\x00\x01x", 3));

  EXPECT_FALSE(decode(WebSocketRole::client, input));
}

TEST(WebSocketCodec, WhenAFrameWasRead_ThenNothingBeyondItIsAskedFor) {
  WebSocketDecoder decoder(WebSocketRole::client, max_bytes);

  const auto room = decoder.prepare();

  EXPECT_EQ(room.size(), 2U);
  EXPECT_TRUE(decoder.is_between_messages());
}

}  // namespace
}  // namespace outhaul::http
