// API tokens: how a program proves that it speaks for an account. Only the hash is stored.
#pragma once

#include "base/bytes.h"
#include "store/account_store.h"

namespace outhaul::store {

struct ApiTokenRow {
  ApiTokenId id;
  AccountId account;         // must exist
  Bytes hash;                // SHA-256 of the token, 32 bytes; unique
  std::string name;          // for people; need not be unique
  Role role = Role::member;  // admission takes the lesser of this and the account's
  WallTime created_at;
  std::optional<WallTime> expires_at;
  std::optional<WallTime> last_used_at;
  std::optional<WallTime> revoked_at;
  bool operator==(const ApiTokenRow&) const = default;
};

class ApiTokenReader {
 public:
  virtual ~ApiTokenReader() = default;
  virtual Result<std::optional<ApiTokenRow>> find(const ApiTokenId& id) = 0;
  // Finds revoked and expired ones too: the caller decides and can say why.
  virtual Result<std::optional<ApiTokenRow>> find_by_hash(const Bytes& hash) = 0;
  // Oldest first; an empty account means all.
  virtual Result<Page<ApiTokenRow>> list(const AccountId& account, const PageRequest& page) = 0;
};

class ApiTokenStore : public ApiTokenReader {
 public:
  // conflict: the id or the hash exists. not_found: no such account.
  virtual Result<void> add(const ApiTokenRow& token) = 0;
  // Idempotent: the first time stands. not_found: no such token.
  virtual Result<void> revoke(const ApiTokenId& id, WallTime when) = 0;
  // Only rises. An unknown id is ignored: the note is late and worth nothing.
  virtual Result<void> note_used(const ApiTokenId& id, WallTime when) = 0;
};

}  // namespace outhaul::store
