// UserKeyService: the public keys that people registered with their accounts, and whether an order is signed
// by one of them. It spares people a refusal that comes late; what may run is decided by each node, with the
// keys in its own file.
//   runs on  the hub's strand
#pragma once

#include <string>

#include "hub/accounts/principal.h"
#include "hub/hub_ports.h"
#include "store/database.h"

namespace outhaul::hub {

class UserKeyService {
 public:
  static constexpr std::size_t max_name_bytes = 100;
  static constexpr std::size_t max_keys_per_account = 32;

  // `deployment` outlives it.
  UserKeyService(const HubPorts& ports, const std::string& deployment)
      : clock_(ports.clock), database_(ports.database), deployment_(deployment) {}

  struct Wish {
    AccountId account;
    std::string public_key;  // as crypto::user_key_text
    std::string name;
  };
  // Idempotent for the same account, which keeps the first name.
  //   errors  invalid: no such key. conflict: another account has it. exhausted: max_keys_per_account
  Task<Result<store::UserKeyRow>> add(Wish wish);
  // Of all accounts, for an empty one.
  Task<Result<store::Page<store::UserKeyRow>>> list(AccountId account, store::PageRequest page);
  // not_found, also for a key that the principal may not see.
  Task<Result<void>> remove(KeyId id, Principal principal);
  // Whether the account has signed this order, for this deployment.
  //   errors  user_signature_invalid
  Task<Result<void>> check(Bytes signed_order, AccountId account);

 private:
  AsyncClock& clock_;
  store::Database& database_;
  const std::string& deployment_;
};

}  // namespace outhaul::hub
