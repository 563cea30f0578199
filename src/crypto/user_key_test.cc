#include "crypto/user_key.h"

#include <gtest/gtest.h>

#include "testing/seeded_random.h"

namespace outhaul::crypto {
namespace {

TEST(UserKey, WhenWrittenAndReadAgain_ThenItIsTheSameKeyWithTheSameId) {
  testing::SeededRandom random(3);
  const auto key = SigningKey::generate(random).verify_key();

  const auto read = parse_user_key(user_key_text(key));

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->public_key(), key.public_key());
  EXPECT_EQ(user_key_id(*read), user_key_id(key));
  EXPECT_TRUE(KeyId::parse(user_key_id(key).text()).has_value());
  EXPECT_NE(user_key_id(SigningKey::generate(random).verify_key()), user_key_id(key));
}

TEST(UserKey, WhenTheTextIsOfAnotherForm_ThenItIsInvalidAndNotRepeated) {
  testing::SeededRandom random(3);
  const auto good = user_key_text(SigningKey::generate(random).verify_key());
  const std::pair<const char*, std::string> rows[] = {
      {"empty", ""},
      {"no algorithm", good.substr(8)},
      {"another algorithm", "hmac:" + good.substr(8)},
      {"upper case", "ED25519:" + good.substr(8)},
      {"cut", good.substr(0, good.size() - 4)},
      {"longer", good + "AAAA"},
      {"a space before", " " + good},
      {"a line end after", good + "\n"},
      {"of small order", "ed25519:" + to_base64(Bytes(32, '\0'))},
      {"no base64", "ed25519:" + std::string(44, '*')},
      {"a private key", "-----BEGIN PRIVATE KEY-----"},
  };
  for (const auto& [name, text] : rows) {
    SCOPED_TRACE(name);

    const auto read = parse_user_key(text);

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::invalid);
    if (!text.empty()) EXPECT_EQ(std::string(read.error().what()).find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace outhaul::crypto
