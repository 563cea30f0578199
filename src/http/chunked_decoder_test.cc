#include "http/chunked_decoder.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace outhaul::http {
namespace {

struct Decoded {
  Bytes payload;
  std::size_t consumed = 0;
  bool is_done = false;
};

// Feeds `input` in pieces of `piece_size`; empty when it was refused.
std::optional<Decoded> decode(ByteView input, std::size_t piece_size) {
  ChunkedDecoder decoder;
  Decoded decoded;
  while (decoded.consumed < input.size() && !decoder.is_done()) {
    const auto step = decoder.step(input.substr(decoded.consumed, piece_size));
    if (!step) return std::nullopt;
    decoded.payload.append(step->data);
    decoded.consumed += step->consumed;
  }
  decoded.is_done = decoder.is_done();
  return decoded;
}

TEST(ChunkedDecoder, WhenBodyIsCutAnywhere_ThenThePayloadIsTheSame) {
  const std::string body =
      "4\r\nWiki\r\n6;name=\"v\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nTrailer: x\r\n\r\n";
  const std::string input = body + "GET /next";
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    SCOPED_TRACE(piece);

    const auto decoded = decode(input, piece);

    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->payload, "Wikipedia in \r\n\r\nchunks.");
    EXPECT_TRUE(decoded->is_done);
    EXPECT_EQ(decoded->consumed, body.size());
  }
}

TEST(ChunkedDecoder, WhenBodyIsUnfinished_ThenItIsNotDone) {
  const std::string body = "4\r\nWiki\r\n0\r\n\r\n";
  for (std::size_t size = 0; size < body.size(); ++size) {
    SCOPED_TRACE(size);

    const auto decoded = decode(ByteView(body).substr(0, size), 3);

    ASSERT_TRUE(decoded);
    EXPECT_FALSE(decoded->is_done);
  }
}

TEST(ChunkedDecoder, WhenFramingIsHostile_ThenItIsRefused) {
  const std::map<std::string, std::string> rows = {
      {"no size", "\r\nWiki\r\n0\r\n\r\n"},
      {"no hexadecimal", "g\r\n"},
      {"prefix", "0x4\r\nWiki\r\n"},
      {"sign", "+4\r\nWiki\r\n"},
      {"space before", " 4\r\nWiki\r\n"},
      {"space after", "4 \r\nWiki\r\n"},
      {"LF alone after the size", "4\nWiki\r\n"},
      {"CR alone after the size", "4\rWiki\r\n"},
      {"longer than its size", "4\r\nWikis\r\n"},
      {"shorter than its size", "4\r\nWik\r\n0\r\n\r\n"},
      {"LF alone after the data", "4\r\nWiki\n0\r\n\r\n"},
      {"size out of range", "10000000000000000\r\n"},
      {"endless zeros then overflow", "0000ffffffffffffffff0\r\n"},
      {"control in an extension", "4;a=\x01\r\nWiki\r\n"},
      {"LF in an extension", "4;a\nWiki\r\n"},
      {"long extension", "4;" + std::string(300, 'a') + "\r\n"},
      {"long trailers", "0\r\nA: " + std::string(5000, 'a') + "\r\n\r\n"},
      {"LF alone in trailers", "0\r\nA: b\n\r\n"},
  };
  for (const auto& [reason, input] : rows) {
    SCOPED_TRACE(reason);
    EXPECT_FALSE(decode(input, input.size()));
    EXPECT_FALSE(decode(input, 1));
  }
}

}  // namespace
}  // namespace outhaul::http
