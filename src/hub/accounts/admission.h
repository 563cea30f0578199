// Admission: the one place where a request becomes a Principal. Every protected route passes admit() and no
// handler looks at a credential itself. Sign-in by other means will be one more kind of credential here.
//   runs on  the hub's strand
#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "base/async_clock.h"
#include "base/task_group.h"
#include "hub/accounts/action.h"
#include "hub/accounts/token_cache.h"
#include "store/database.h"

namespace outhaul::hub {

// What a request shows of its sender.
struct RequestFacts {
  std::string_view authorization;  // the header's value; empty when there is none
};

class Admission {
 public:
  Admission(const Executor& executor, AsyncClock& clock, store::Database& database);

  // The sender, when it may do `action`.
  //   errors  unauthenticated: no token, a malformed, unknown, revoked or expired one, or a disabled account;
  //   the
  //           message is the same for all but the first two, so that nobody learns which tokens once existed
  //           denied: a lesser role than the action needs
  //           those of the database
  Task<Result<Principal>> admit(RequestFacts facts, Action action);

  // Carries out what may take long for somebody who was admitted; it is cancelled when the token is revoked
  // or expires, or the account is disabled, and the answer is then `unauthenticated`.
  Task<Result<void>> while_valid(Principal principal, Task<Result<void>> work);

  // Takes effect at once, also on what while_valid() carries out; called after the change is durable.
  void forget_token(const ApiTokenId& token);
  void forget_account(const AccountId& account);

  // Ends notes of use that are still being written.
  Task<void> join();

 private:
  class Stay;
  void end_stays(auto matches);
  Task<Result<TokenCache::Entry>> load(Bytes hash);
  Task<Result<TokenCache::Entry>> find_or_load(Bytes hash);
  void note_use(TokenCache::Entry& entry);

  AsyncClock& clock_;
  store::Database& database_;
  TokenCache cache_;
  std::uint64_t changes_ = 0;  // a read that began before the last change must not be cached
  TaskGroup notes_;
  std::set<Stay*> stays_;  // of while_valid()
};

}  // namespace outhaul::hub
