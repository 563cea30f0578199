// AccountService: accounts and their API tokens. What an administrator may do with them; whether somebody is
// one was decided by Admission before.
//   runs on  the hub's strand
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/secret.h"
#include "hub/accounts/admission.h"
#include "hub/hub_ports.h"
#include "store/database.h"

namespace outhaul::hub {

// True for names of accounts and nodes: the rule of wire::Target.
bool is_legal_name(std::string_view name);

struct NewApiToken {
  store::ApiTokenRow row;
  Secret token;  // shown once
};

class AccountService {
 public:
  static constexpr std::size_t max_token_name_bytes = 100;

  AccountService(const HubPorts& ports, Admission& admission)
      : clock_(ports.clock), random_(ports.random), database_(ports.database), admission_(admission) {}

  // errors  invalid: the name breaks the rule. name_taken
  Task<Result<store::AccountRow>> create(std::string name, store::Role role);
  Task<Result<store::Page<store::AccountRow>>> list(store::PageRequest page);
  // By id or name. not_found.
  Task<Result<store::AccountRow>> find(std::string account);
  // By id or name; its tokens stop working with the next request. not_found; conflict: it is `self`, who
  // would lock itself out.
  Task<Result<store::AccountRow>> disable(std::string account, AccountId self);

  struct TokenWish {
    std::string account;  // id or name
    store::Role role = store::Role::member;
    std::string name;
    std::optional<std::chrono::nanoseconds> expires_in;
  };
  // errors  not_found: no such account. conflict: it is disabled
  Task<Result<NewApiToken>> create_token(TokenWish wish);
  // Those that still work; all, for an empty account.
  Task<Result<store::Page<store::ApiTokenRow>>> list_tokens(AccountId account, store::PageRequest page);
  // not_found, also for a token that the principal may not see.
  Task<Result<void>> revoke_token(ApiTokenId id, Principal principal);

 private:
  AsyncClock& clock_;
  Random& random_;
  store::Database& database_;
  Admission& admission_;
};

// The first administrator of a new deployment, with one token. Used by `init`, before any service runs.
Result<NewApiToken> make_first_admin(store::Transaction& tx, WallTime now, Random& random);

}  // namespace outhaul::hub
