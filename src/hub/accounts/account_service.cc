#include "hub/accounts/account_service.h"

#include "crypto/digest.h"
#include "crypto/token.h"
#include "wire/target.h"

namespace outhaul::hub {
namespace {

constexpr std::string_view first_admin_name = "admin";

Result<store::AccountRow> find_account(store::AccountReader& accounts, const std::string& id_or_name) {
  OUTHAUL_TRY(by_id, accounts.find(AccountId::assume(id_or_name)));
  if (by_id) return std::move(*by_id);
  OUTHAUL_TRY(by_name, accounts.find_by_name(id_or_name));
  if (by_name) return std::move(*by_name);
  return fail(ErrorCode::not_found, "no such account");
}

NewApiToken make_token(WallTime now, Random& random) {
  auto token = crypto::make_api_token(random);
  store::ApiTokenRow row;
  row.id = ApiTokenId::make(now, random);
  row.hash = crypto::sha256(token.reveal_for("store its hash"));
  row.created_at = now;
  return {std::move(row), std::move(token)};
}

}  // namespace

bool is_legal_name(std::string_view name) {
  return wire::Target::make(wire::TargetKind::tool, name).has_value();
}

Task<Result<store::AccountRow>> AccountService::create(std::string name, store::Role role) {
  if (!is_legal_name(name)) {
    co_return fail(ErrorCode::invalid,
                   "name: 1 to 63 of a-z, 0-9, _ and -, from a letter to a letter or digit");
  }
  const auto now = clock_.wall_now();
  store::AccountRow row{AccountId::make(now, random_), std::move(name), role, now, std::nullopt};
  auto work = [row](store::Transaction& tx) { return tx.accounts.add(row); };
  OUTHAUL_CO_CHECK(co_await database_.transact(std::move(work)));
  co_return row;
}

Task<Result<store::Page<store::AccountRow>>> AccountService::list(store::PageRequest page) {
  auto work = [page = std::move(page)](store::ReadTransaction& tx) { return tx.accounts.list(page); };
  co_return co_await database_.read(std::move(work));
}

Task<Result<store::AccountRow>> AccountService::find(std::string account) {
  auto work = [account = std::move(account)](store::ReadTransaction& tx) {
    return find_account(tx.accounts, account);
  };
  co_return co_await database_.read(std::move(work));
}

Task<Result<store::AccountRow>> AccountService::disable(std::string account, AccountId self) {
  auto work = [account = std::move(account), self = std::move(self),
               now = clock_.wall_now()](store::Transaction& tx) -> Result<store::AccountRow> {
    OUTHAUL_TRY(row, find_account(tx.accounts, account));
    if (row.id == self) return fail(ErrorCode::conflict, "an account cannot disable itself");
    if (row.disabled_at) return std::move(row);
    OUTHAUL_CHECK(tx.accounts.set_disabled(row.id, now));
    row.disabled_at = now;
    return std::move(row);
  };
  OUTHAUL_CO_TRY(row, co_await database_.transact(std::move(work)));
  admission_.forget_account(row.id);
  co_return std::move(row);
}

Task<Result<NewApiToken>> AccountService::create_token(TokenWish wish) {
  auto made = make_token(clock_.wall_now(), random_);
  made.row.name = std::move(wish.name);
  made.row.role = wish.role;
  if (wish.expires_in) made.row.expires_at = made.row.created_at + *wish.expires_in;
  auto work = [row = made.row,
               account = std::move(wish.account)](store::Transaction& tx) -> Result<AccountId> {
    OUTHAUL_TRY(owner, find_account(tx.accounts, account));
    if (owner.disabled_at) return fail(ErrorCode::conflict, "the account is disabled");
    auto token = row;
    token.account = owner.id;
    OUTHAUL_CHECK(tx.api_tokens.add(token));
    return owner.id;
  };
  OUTHAUL_CO_TRY(owner, co_await database_.transact(std::move(work)));
  made.row.account = owner;
  co_return std::move(made);
}

Task<Result<store::Page<store::ApiTokenRow>>> AccountService::list_tokens(AccountId account,
                                                                          store::PageRequest page) {
  auto work = [account = std::move(account), page = std::move(page)](store::ReadTransaction& tx) {
    return tx.api_tokens.list(account, page);
  };
  OUTHAUL_CO_TRY(tokens, co_await database_.read(std::move(work)));
  std::erase_if(tokens.rows, [](const auto& row) { return row.revoked_at.has_value(); });
  co_return std::move(tokens);
}

Task<Result<void>> AccountService::revoke_token(ApiTokenId id, Principal principal) {
  auto work = [id, principal = std::move(principal),
               now = clock_.wall_now()](store::Transaction& tx) -> Result<void> {
    OUTHAUL_TRY(row, tx.api_tokens.find(id));
    if (!row || !principal.may_see(row->account)) return fail(ErrorCode::not_found, "no such token");
    return tx.api_tokens.revoke(id, now);
  };
  OUTHAUL_CO_CHECK(co_await database_.transact(std::move(work)));
  admission_.forget_token(id);
  co_return Result<void>();
}

Result<NewApiToken> make_first_admin(store::Transaction& tx, WallTime now, Random& random) {
  auto made = make_token(now, random);
  const store::AccountRow account{AccountId::make(now, random), std::string(first_admin_name),
                                  store::Role::admin, now, std::nullopt};
  made.row.account = account.id;
  made.row.name = "first administrator";
  made.row.role = store::Role::admin;
  OUTHAUL_CHECK(tx.accounts.add(account));
  OUTHAUL_CHECK(tx.api_tokens.add(made.row));
  return made;
}

}  // namespace outhaul::hub
