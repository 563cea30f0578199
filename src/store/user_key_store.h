// The public keys of people, as they registered them with their accounts. What a node believes stands in its
// own file and never here.
#pragma once

#include "base/bytes.h"
#include "store/account_store.h"

namespace outhaul::store {

struct UserKeyRow {
  KeyId id;           // follows from the key
  AccountId account;  // must exist
  Bytes public_key;   // 32 raw bytes
  std::string name;   // for people; need not be unique
  WallTime created_at;
  bool operator==(const UserKeyRow&) const = default;
};

class UserKeyReader {
 public:
  virtual ~UserKeyReader() = default;
  virtual Result<std::optional<UserKeyRow>> find(const KeyId& id) = 0;
  // By id; an empty account means all.
  virtual Result<Page<UserKeyRow>> list(const AccountId& account, const PageRequest& page) = 0;
};

class UserKeyStore : public UserKeyReader {
 public:
  // conflict: the id exists, of whatever account. not_found: no such account.
  virtual Result<void> add(const UserKeyRow& key) = 0;
  // not_found: no such key.
  virtual Result<void> remove(const KeyId& id) = 0;
};

}  // namespace outhaul::store
