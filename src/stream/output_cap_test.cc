#include "stream/output_cap.h"

#include <gtest/gtest.h>

namespace outhaul::stream {
namespace {

Bytes produced(std::size_t size) {
  Bytes bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

struct Kept {
  Bytes live;
  OutputCap::Rest rest;
};
Kept run(OutputCap cap, ByteView output, std::size_t chunk) {
  Kept kept;
  for (; !output.empty(); output.remove_prefix(std::min(chunk, output.size()))) {
    kept.live += cap.pass(output.substr(0, chunk));
  }
  kept.rest = cap.finish();
  return kept;
}

// proves X2
TEST(OutputCap, WhenTheOutputIsLonger_ThenTheFirstAndLastAreKeptAndTheGapIsExact) {
  const Bytes output = produced(10'000);
  for (const std::size_t chunk : {1UL, 7UL, 100UL, 4096UL, 10'000UL}) {
    SCOPED_TRACE(chunk);

    const auto kept = run(OutputCap(1000, 300), output, chunk);

    EXPECT_EQ(kept.live, output.substr(0, 1000));
    EXPECT_EQ(kept.rest.last, output.substr(9700));
    EXPECT_EQ(kept.rest.missing, 8700U);
  }
}

TEST(OutputCap, WhenAllFits_ThenNothingIsMissing) {
  const Bytes output = produced(1300);
  for (const std::size_t size : {0UL, 1UL, 999UL, 1000UL, 1001UL, 1299UL, 1300UL}) {
    SCOPED_TRACE(size);

    const auto kept = run(OutputCap(1000, 300), ByteView(output).substr(0, size), 64);

    EXPECT_EQ(kept.live + kept.rest.last, output.substr(0, size));
    EXPECT_EQ(kept.rest.missing, 0U);
  }
}

TEST(OutputCap, WhenThereIsNoCap_ThenEverythingPassesLive) {
  const Bytes output = produced(5000);

  const auto kept = run(OutputCap(), output, 77);

  EXPECT_EQ(kept.live, output);
  EXPECT_TRUE(kept.rest.last.empty());
}

}  // namespace
}  // namespace outhaul::stream
