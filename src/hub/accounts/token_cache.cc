#include "hub/accounts/token_cache.h"

namespace outhaul::hub {

TokenCache::Entry* TokenCache::find(const Bytes& hash, TimePoint now, WallTime wall_now) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return nullptr;
  auto& entry = found->second->entry;
  const bool is_expired = entry.expires_at && wall_now >= *entry.expires_at;
  if (!is_expired && now - entry.cached_at < max_age) return &entry;
  entries_.erase(found->second);
  by_hash_.erase(found);
  return nullptr;
}

TokenCache::Entry& TokenCache::put(const Bytes& hash, Entry entry) {
  if (const auto found = by_hash_.find(hash); found != by_hash_.end()) {
    entries_.erase(found->second);
    by_hash_.erase(found);
  }
  if (entries_.size() == max_entries) {
    by_hash_.erase(entries_.front().hash);
    entries_.pop_front();
  }
  const auto slot = entries_.insert(entries_.end(), Slot{hash, std::move(entry)});
  by_hash_.emplace(hash, slot);
  return slot->entry;
}

void TokenCache::drop_token(const ApiTokenId& token) {
  drop_if([&token](const Slot& slot) { return slot.entry.principal.token == token; });
}

void TokenCache::drop_account(const AccountId& account) {
  drop_if([&account](const Slot& slot) { return slot.entry.principal.account == account; });
}

void TokenCache::drop_if(auto matches) {
  for (auto slot = entries_.begin(); slot != entries_.end();) {
    if (!matches(*slot)) {
      ++slot;
      continue;
    }
    by_hash_.erase(slot->hash);
    slot = entries_.erase(slot);
  }
}

}  // namespace outhaul::hub
