// TokenCache: API tokens that were found valid lately, so that a request in a row of requests costs no read.
// Bounded, and short-lived whatever happens; revoking and disabling drop entries at once. A pure value.
#pragma once

#include <list>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "hub/accounts/principal.h"

namespace outhaul::hub {

class TokenCache {
 public:
  static constexpr std::size_t max_entries = 4096;
  // Also how long a change made behind the hub's back (another process on the database) may go unnoticed.
  static constexpr Duration max_age = std::chrono::seconds(30);

  struct Entry {
    Principal principal;
    std::optional<WallTime> expires_at;  // of the token
    TimePoint cached_at;
    TimePoint noted_at;  // when its use was last written down
  };

  // Empty when unknown, too old, or past the token's own expiry. The pointer holds until the next call.
  Entry* find(const Bytes& hash, TimePoint now, WallTime wall_now);
  // The oldest entry makes room.
  Entry& put(const Bytes& hash, Entry entry);
  void drop_token(const ApiTokenId& token);
  void drop_account(const AccountId& account);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Slot {
    Bytes hash;
    Entry entry;
  };
  void drop_if(auto matches);
  std::list<Slot> entries_;  // oldest first
  std::map<Bytes, std::list<Slot>::iterator, std::less<>> by_hash_;
};

}  // namespace outhaul::hub
