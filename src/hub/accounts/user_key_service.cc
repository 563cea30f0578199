#include "hub/accounts/user_key_service.h"

#include "base/remedy.h"
#include "crypto/user_key.h"
#include "wire/user_order.h"

namespace outhaul::hub {
namespace {

Result<store::UserKeyRow> add_key(store::Transaction& tx, const store::UserKeyRow& row) {
  OUTHAUL_TRY(known, tx.user_keys.find(row.id));
  if (known && known->account == row.account) return std::move(*known);
  if (known) return fail(ErrorCode::conflict, "another account has this key");
  store::PageRequest page;
  page.limit = UserKeyService::max_keys_per_account;
  OUTHAUL_TRY(own, tx.user_keys.list(row.account, page));
  if (own.rows.size() >= UserKeyService::max_keys_per_account) {
    return fail(Error(ErrorCode::exhausted, "the account has as many keys as one may have")
                    .with("limit", std::to_string(UserKeyService::max_keys_per_account)));
  }
  OUTHAUL_CHECK(tx.user_keys.add(row));
  return row;
}

Result<std::vector<wire::TrustedUser>> keys_of(store::ReadTransaction& tx, const AccountId& account) {
  store::PageRequest page;
  page.limit = UserKeyService::max_keys_per_account;
  OUTHAUL_TRY(rows, tx.user_keys.list(account, page));
  std::vector<wire::TrustedUser> users;
  for (const auto& row : rows.rows) {
    OUTHAUL_TRY(key, crypto::VerifyKey::parse(row.public_key));
    users.push_back({{row.id, std::move(key)}, account});
  }
  return users;
}

}  // namespace

Task<Result<store::UserKeyRow>> UserKeyService::add(Wish wish) {
  OUTHAUL_CO_TRY(key, crypto::parse_user_key(wish.public_key));
  const store::UserKeyRow row{crypto::user_key_id(key), std::move(wish.account), key.public_key(),
                              std::move(wish.name), clock_.wall_now()};
  auto work = [row](store::Transaction& tx) { return add_key(tx, row); };
  co_return co_await database_.transact(std::move(work));
}

Task<Result<store::Page<store::UserKeyRow>>> UserKeyService::list(AccountId account,
                                                                  store::PageRequest page) {
  auto work = [account = std::move(account), page = std::move(page)](store::ReadTransaction& tx) {
    return tx.user_keys.list(account, page);
  };
  co_return co_await database_.read(std::move(work));
}

Task<Result<void>> UserKeyService::remove(KeyId id, Principal principal) {
  auto work = [id, principal = std::move(principal)](store::Transaction& tx) -> Result<void> {
    OUTHAUL_TRY(row, tx.user_keys.find(id));
    if (!row || !principal.may_see(row->account)) return fail(ErrorCode::not_found, "no such key");
    return tx.user_keys.remove(id);
  };
  co_return co_await database_.transact(std::move(work));
}

Task<Result<void>> UserKeyService::check(Bytes signed_order, AccountId account) {
  auto work = [account](store::ReadTransaction& tx) { return keys_of(tx, account); };
  OUTHAUL_CO_TRY(users, co_await database_.read(std::move(work)));
  const auto opened = wire::open_user_order(signed_order, users);
  if (!opened) {
    Error error(ErrorCode::user_signature_invalid, "the order is not signed by a key of the account");
    co_return fail(with_remedy(std::move(error), "Register the key first: `outhaul key add`."));
  }
  if (opened->order.task.issuer == deployment_) co_return Result<void>();
  co_return fail(ErrorCode::user_signature_invalid, "the order is signed for another deployment");
}

}  // namespace outhaul::hub
