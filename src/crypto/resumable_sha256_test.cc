#include "crypto/resumable_sha256.h"

#include <gtest/gtest.h>

#include "crypto/digest.h"

namespace outhaul::crypto {
namespace {

Bytes pattern(std::size_t size) {
  Bytes bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + 7);
  return bytes;
}

TEST(ResumableSha256, WhenItIsWrittenDownAnywhere_ThenItGoesOnToTheSameDigest) {
  const Bytes whole = pattern(300);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    SCOPED_TRACE(cut);
    ResumableSha256 first;
    first.update(whole.substr(0, cut));

    auto second = ResumableSha256::parse_state(first.state());
    ASSERT_TRUE(second.has_value());
    second->update(whole.substr(cut));

    EXPECT_EQ(second->digest(), sha256(whole));
    EXPECT_EQ(first.digest(), sha256(whole.substr(0, cut)));
  }
}

TEST(ResumableSha256, WhenTheStateHasAnotherLength_ThenItIsInvalid) {
  for (const std::size_t size :
       {std::size_t{0}, ResumableSha256::state_bytes - 1, ResumableSha256::state_bytes + 1}) {
    const auto hash = ResumableSha256::parse_state(Bytes(size, 'x'));
    ASSERT_FALSE(hash.has_value());
    EXPECT_EQ(hash.error().code(), ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace outhaul::crypto
