#include "hub/accounts/token_cache.h"

#include <gtest/gtest.h>

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{1h};
constexpr WallTime wall{1'000'000};

TokenCache::Entry entry(const std::string& account, const std::string& token) {
  return {{AccountId::assume(account), account, ApiTokenId::assume(token), store::Role::member},
          std::nullopt,
          start,
          start};
}

TEST(TokenCache, WhenFreshAndNotExpired_ThenItIsFound) {
  TokenCache cache;
  auto expiring = entry("a", "t2");
  expiring.expires_at = wall + 10s;
  cache.put("h1", entry("a", "t1"));
  cache.put("h2", expiring);

  EXPECT_NE(cache.find("h1", start + 29s, wall), nullptr);
  EXPECT_NE(cache.find("h2", start, wall + 9s), nullptr);
  EXPECT_EQ(cache.find("h2", start, wall + 10s), nullptr);
  EXPECT_EQ(cache.find("h1", start + TokenCache::max_age, wall), nullptr);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(TokenCache, WhenATokenOrAnAccountIsDropped_ThenOnlyItsEntriesGo) {
  TokenCache cache;
  cache.put("h1", entry("a", "t1"));
  cache.put("h2", entry("a", "t2"));
  cache.put("h3", entry("b", "t3"));

  cache.drop_token(ApiTokenId::assume("t1"));
  EXPECT_EQ(cache.find("h1", start, wall), nullptr);
  EXPECT_NE(cache.find("h2", start, wall), nullptr);
  cache.drop_account(AccountId::assume("a"));

  EXPECT_EQ(cache.find("h2", start, wall), nullptr);
  EXPECT_NE(cache.find("h3", start, wall), nullptr);
}

TEST(TokenCache, WhenFull_ThenTheOldestMakesRoom) {
  TokenCache cache;
  for (std::size_t i = 0; i <= TokenCache::max_entries; ++i) cache.put(std::to_string(i), entry("a", "t"));

  EXPECT_EQ(cache.size(), TokenCache::max_entries);
  EXPECT_EQ(cache.find("0", start, wall), nullptr);
  EXPECT_NE(cache.find("1", start, wall), nullptr);
}

}  // namespace
}  // namespace outhaul::hub
