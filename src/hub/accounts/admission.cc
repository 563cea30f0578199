#include "hub/accounts/admission.h"

#include <algorithm>

#include "crypto/digest.h"
#include "crypto/token.h"

namespace outhaul::hub {
namespace {

constexpr std::string_view scheme = "Bearer ";
// Once a minute is what `last_used_at` promises; each note is a write.
constexpr Duration note_interval = std::chrono::minutes(1);

std::unexpected<Error> not_valid() {
  return fail(ErrorCode::unauthenticated, "the API token is unknown, expired or revoked");
}

struct TokenFacts {
  store::ApiTokenRow token;
  store::AccountRow account;
};

Result<TokenFacts> read_token(store::ReadTransaction& tx, const Bytes& hash) {
  OUTHAUL_TRY(token, tx.api_tokens.find_by_hash(hash));
  if (!token) return not_valid();
  OUTHAUL_TRY(account, tx.accounts.find(token->account));
  if (!account) return not_valid();
  return TokenFacts{std::move(*token), std::move(*account)};
}

}  // namespace

Admission::Admission(const Executor& executor, AsyncClock& clock, store::Database& database)
    : clock_(clock), database_(database), notes_(executor) {}

Task<Result<Principal>> Admission::admit(RequestFacts facts, Action action) {
  if (facts.authorization.empty()) {
    co_return fail(ErrorCode::unauthenticated, "no `Authorization: Bearer` header came with the request");
  }
  if (!facts.authorization.starts_with(scheme)) {
    co_return fail(ErrorCode::unauthenticated,
                   "the `Authorization` header is not of the form `Bearer <token>`");
  }
  OUTHAUL_CO_TRY(token, crypto::parse_api_token(facts.authorization.substr(scheme.size())));
  const auto hash = crypto::sha256(token.reveal_for("look up its hash"));
  OUTHAUL_CO_TRY(entry, co_await find_or_load(hash));
  if (entry.principal.role < least_role(action)) {
    co_return fail(ErrorCode::denied, "this needs the role admin");
  }
  co_return std::move(entry.principal);
}

void Admission::forget_token(const ApiTokenId& token) {
  ++changes_;
  cache_.drop_token(token);
}

void Admission::forget_account(const AccountId& account) {
  ++changes_;
  cache_.drop_account(account);
}

Task<Result<TokenCache::Entry>> Admission::find_or_load(Bytes hash) {
  if (auto* entry = cache_.find(hash, clock_.now(), clock_.wall_now())) {
    note_use(*entry);
    co_return *entry;
  }
  const auto changes_before = changes_;
  OUTHAUL_CO_TRY(loaded, co_await load(hash));
  note_use(loaded);
  if (changes_ == changes_before) cache_.put(hash, loaded);
  co_return std::move(loaded);
}

Task<Result<TokenCache::Entry>> Admission::load(Bytes hash) {
  auto work = [hash](store::ReadTransaction& tx) { return read_token(tx, hash); };
  OUTHAUL_CO_TRY(found, co_await database_.read(std::move(work)));
  const auto now = clock_.wall_now();
  const bool is_expired = found.token.expires_at && now >= *found.token.expires_at;
  if (is_expired || found.token.revoked_at || found.account.disabled_at) co_return not_valid();
  Principal principal{found.account.id, found.account.name, found.token.id,
                      std::min(found.token.role, found.account.role)};
  co_return TokenCache::Entry{std::move(principal), found.token.expires_at, clock_.now(),
                              clock_.now() - note_interval};
}

void Admission::note_use(TokenCache::Entry& entry) {
  if (clock_.now() - entry.noted_at < note_interval) return;
  entry.noted_at = clock_.now();
  auto write = [this, token = entry.principal.token, when = clock_.wall_now()]() -> Task<void> {
    auto work = [token, when](store::Transaction& tx) { return tx.api_tokens.note_used(token, when); };
    // Worth nothing when it fails: the next use writes it again.
    static_cast<void>(co_await database_.transact(std::move(work)));
  };
  notes_.spawn(std::move(write));
}

Task<void> Admission::join() {
  notes_.cancel();
  co_await notes_.join();
}

}  // namespace outhaul::hub
