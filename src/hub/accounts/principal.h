// Principal: who a request speaks for, as admission found it. Only Admission makes one for a request.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "store/account_store.h"

namespace outhaul::hub {

struct Principal {
  AccountId account;
  std::string account_name;
  ApiTokenId token;
  store::Role role = store::Role::member;   // the lesser of the token's and the account's
  std::optional<WallTime> expires_at = {};  // of the token

  bool is_admin() const { return role == store::Role::admin; }
  // An admin sees everything, a member what is its own.
  bool may_see(const AccountId& owner) const { return is_admin() || owner == account; }
};

}  // namespace outhaul::hub
