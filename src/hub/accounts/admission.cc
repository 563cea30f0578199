#include "hub/accounts/admission.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

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

// Lives in the frame of while_valid(): cancels the work when its sender may not go on, and when the request
// itself is cancelled.
class Admission::Stay {
 public:
  Stay(Admission& admission, const Principal& principal, const Executor& strand,
       asio::cancellation_slot outer)
      : admission_(admission), principal_(principal), outer_(outer) {
    admission_.stays_.insert(this);
    if (outer_.is_connected()) outer_.assign([this](asio::cancellation_type type) { stop_.emit(type); });
    if (!principal_.expires_at) return;
    const auto left = *principal_.expires_at - admission_.clock_.wall_now();
    alarm_ = admission_.clock_.alarm_at(admission_.clock_.now() + left, strand, [this] { end(); });
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  ~Stay() {
    admission_.stays_.erase(this);
    if (outer_.is_connected()) outer_.clear();
  }

  const Principal& principal() const { return principal_; }
  asio::cancellation_slot slot() { return stop_.slot(); }
  bool is_over() const { return is_over_; }
  void end() {
    is_over_ = true;
    stop_.emit(asio::cancellation_type::terminal);
  }

 private:
  Admission& admission_;
  Principal principal_;
  asio::cancellation_signal stop_;
  asio::cancellation_slot outer_;
  bool is_over_ = false;
  std::unique_ptr<AsyncClock::Alarm> alarm_;
};

Task<Result<void>> Admission::while_valid(Principal principal, Task<Result<void>> work) {
  const auto strand = co_await asio::this_coro::executor;
  const auto outer = co_await asio::this_coro::cancellation_state;
  Stay stay(*this, principal, strand, outer.slot());
  const auto body = [](Task<Result<void>> inner) -> Task<std::optional<Result<void>>> {
    co_return co_await std::move(inner);
  };
  auto [failure, done] =
      co_await asio::co_spawn(strand, body(std::move(work)),
                              asio::bind_cancellation_slot(stay.slot(), asio::as_tuple(asio::use_awaitable)));
  if (failure && !(stay.is_over() && is_cancellation(failure))) std::rethrow_exception(failure);
  if (done) co_return *std::move(done);
  co_return not_valid();
}

// An ended one leaves the set when its coroutine goes on, which is later.
void Admission::end_stays(auto matches) {
  for (auto* stay : stays_) {
    if (matches(stay->principal())) stay->end();
  }
}

void Admission::forget_token(const ApiTokenId& token) {
  ++changes_;
  cache_.drop_token(token);
  end_stays([&token](const Principal& principal) { return principal.token == token; });
}

void Admission::forget_account(const AccountId& account) {
  ++changes_;
  cache_.drop_account(account);
  end_stays([&account](const Principal& principal) { return principal.account == account; });
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
                      std::min(found.token.role, found.account.role), found.token.expires_at};
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
