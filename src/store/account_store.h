// Accounts: whose work a task is.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "store/page.h"

namespace outhaul::store {

enum class Role { member = 0, admin = 1 };

struct AccountRow {
  AccountId id;
  std::string name;  // unique
  Role role = Role::member;
  WallTime created_at;
  std::optional<WallTime> disabled_at;
  bool operator==(const AccountRow&) const = default;
};

class AccountReader {
 public:
  virtual ~AccountReader() = default;
  virtual Result<std::optional<AccountRow>> find(const AccountId& id) = 0;
  virtual Result<std::optional<AccountRow>> find_by_name(const std::string& name) = 0;
  // Oldest first.
  virtual Result<Page<AccountRow>> list(const PageRequest& page) = 0;
};

class AccountStore : public AccountReader {
 public:
  // name_taken: the name exists. conflict: the id exists.
  virtual Result<void> add(const AccountRow& account) = 0;
  // Empty enables it again. not_found: no such account.
  virtual Result<void> set_disabled(const AccountId& id, std::optional<WallTime> when) = 0;
};

}  // namespace outhaul::store
