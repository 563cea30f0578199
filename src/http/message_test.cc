#include "http/message.h"

#include <gtest/gtest.h>

namespace outhaul::http {
namespace {

TEST(Headers, WhenNamesDifferInCase_ThenTheyAreTheSame) {
  Headers headers{{"Content-Type", "text/plain"}, {"X-A", "1"}, {"x-a", "2"}};

  headers.set("CONTENT-TYPE", "application/json");

  EXPECT_EQ(headers.find("content-type"), "application/json");
  EXPECT_EQ(headers.count("X-a"), 2U);
  EXPECT_EQ(headers.find("X-A"), "1");
  EXPECT_EQ(headers.size(), 3U);
}

TEST(Headers, WhenListHasTheToken_ThenItIsFoundWhole) {
  const Headers headers{{"Connection", "keep-alive, Upgrade"}, {"Connection", " close "}};

  EXPECT_TRUE(headers.has_token("connection", "upgrade"));
  EXPECT_TRUE(headers.has_token("Connection", "Close"));
  EXPECT_FALSE(headers.has_token("Connection", "up"));
  EXPECT_FALSE(headers.has_token("Connection", ""));
}

TEST(HeadersDeathTest, WhenAValueHoldsALineEnd_ThenItIsABrokenPromise) {
  Headers headers;
  EXPECT_DEATH(headers.add("X-A", "1\r\nX-B: 2"), "has_control");
}

TEST(MethodName, WhenCaseDiffers_ThenItIsNoMethod) {
  EXPECT_EQ(find_method("DELETE"), Method::del);
  EXPECT_EQ(find_method("get"), std::nullopt);
  EXPECT_EQ(find_method("TRACE"), std::nullopt);
  EXPECT_EQ(name_of(Method::patch), "PATCH");
}

}  // namespace
}  // namespace outhaul::http
