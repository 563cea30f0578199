#include "crypto/system_random.h"

#include <gtest/gtest.h>

namespace outhaul::crypto {
namespace {

TEST(SystemRandom, WhenAskedForACount_ThenExactlySoManyCome) {
  SystemRandom random;

  for (const std::size_t count : {0U, 1U, 31U, 300U, 100'000U}) EXPECT_EQ(random.bytes(count).size(), count);
}

TEST(SystemRandom, WhenAskedTwice_ThenTheBytesDiffer) {
  SystemRandom random;

  EXPECT_NE(random.bytes(32), random.bytes(32));
}

}  // namespace
}  // namespace outhaul::crypto
