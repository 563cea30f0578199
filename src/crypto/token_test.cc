#include "crypto/token.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "crypto/digest.h"
#include "testing/seeded_random.h"

namespace outhaul::crypto {
namespace {

using outhaul::testing::SeededRandom;

const std::string secret(43, 's');

std::string text_of(const Secret& token) { return std::string(token.reveal_for("test")); }

TEST(ApiToken, WhenMade_ThenItHasTheFormAndIsParsed) {
  SeededRandom random(1);

  for (int i = 0; i < 50; ++i) {
    const auto text = text_of(make_api_token(random));
    EXPECT_EQ(text.size(), 47U);
    EXPECT_TRUE(text.starts_with("oht_"));
    EXPECT_EQ(text.find_first_of("+/="), std::string::npos);
    EXPECT_TRUE(parse_api_token(text).has_value());
  }
}

TEST(ApiToken, WhenTwoAreMade_ThenTheyDiffer) {
  SeededRandom random(1);

  EXPECT_NE(text_of(make_api_token(random)), text_of(make_api_token(random)));
}

TEST(ApiToken, WhenTheTextIsAnythingElse_ThenItIsUnauthenticatedAndNotEchoed) {
  const std::string rejected[] = {"",
                                  "oht_",
                                  "oht_hunter2",
                                  secret,
                                  "OHT_" + secret,
                                  "ohe_" + secret,
                                  "oht_" + secret + "s",
                                  "oht_" + secret.substr(1),
                                  "oht_" + secret.substr(1) + "=",
                                  "oht_" + secret.substr(1) + "+",
                                  "oht_" + secret.substr(1) + " ",
                                  " oht_" + secret,
                                  "oht_" + secret + "\n",
                                  "oht_" + secret.substr(1) + std::string(1, '\0')};
  for (const auto& text : rejected) {
    SCOPED_TRACE(text);
    const auto token = parse_api_token(text);
    ASSERT_FALSE(token.has_value());
    EXPECT_EQ(token.error().code(), ErrorCode::unauthenticated);
    EXPECT_EQ(token.error().what().find("hunter2"), std::string::npos);
  }
}

// proves A1
TEST(EnrolmentToken, WhenMade_ThenItCarriesItsDeploymentAndOnlyItsHashNeedsToBeKept) {
  SeededRandom random(2);

  const auto made = make_enrolment_token("hub.example.org", random);
  ASSERT_TRUE(made.has_value());
  const auto text = text_of(made->text);
  const auto parsed = parse_enrolment_token(text);

  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->deployment, "hub.example.org");
  EXPECT_TRUE(parsed->text.equals(text));
  EXPECT_EQ(token_hash(text), sha256_hex(text));
  EXPECT_EQ(token_hash(text).size(), 64U);
}

TEST(EnrolmentToken, WhenTheSecretHoldsUnderscoresAndHyphens_ThenTheDeploymentIsStillFound) {
  for (const auto& odd : {std::string(43, '_'), std::string(43, '-'), "_-" + std::string(41, 'a')}) {
    const auto parsed = parse_enrolment_token("ohe_my-hub_" + odd);
    ASSERT_TRUE(parsed.has_value()) << odd;
    EXPECT_EQ(parsed->deployment, "my-hub");
  }
}

TEST(EnrolmentToken, WhenTheTextIsAnythingElse_ThenItIsRefusedAndNotEchoed) {
  const std::string rejected[] = {"",
                                  "ohe_",
                                  "ohe_hunter2",
                                  "ohe_" + secret,
                                  "ohe__" + secret,
                                  "oht_hub_" + secret,
                                  "ohe_hub" + secret,
                                  "ohe_hub_" + secret.substr(1),
                                  "ohe_Hub_" + secret,
                                  "ohe_hub/_" + secret,
                                  "ohe_127.0.0.1_" + secret,
                                  "ohe_hub_" + secret + "\n",
                                  "ohe_hub_" + secret.substr(1) + "=",
                                  "ohe_hub hunter2_" + secret,
                                  "ohe_" + std::string(300, 'a') + "_" + secret};
  for (const auto& text : rejected) {
    SCOPED_TRACE(text);
    const auto token = parse_enrolment_token(text);
    ASSERT_FALSE(token.has_value());
    EXPECT_EQ(token.error().code(), ErrorCode::enrolment_token_invalid);
    EXPECT_EQ(token.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(EnrolmentToken, WhenTheDeploymentIsNoDnsName_ThenNoneIsMade) {
  SeededRandom random(3);

  for (const char* name : {"", "my_hub", "Hub", "a b", "10.0.0.1"}) {
    const auto token = make_enrolment_token(name, random);
    ASSERT_FALSE(token.has_value()) << name;
    EXPECT_EQ(token.error().code(), ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace outhaul::crypto
