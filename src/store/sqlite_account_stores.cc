#include "store/row_rules.h"
#include "store/sqlite_identity_stores.h"
#include "store/sqlite_rows.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_ACCOUNT_COLUMNS "id, name, role, created_at, disabled_at"
#define OUTHAUL_TOKEN_COLUMNS \
  "id, account, hash, name, role, created_at, expires_at, last_used_at, revoked_at"

AccountRow read_account(SqliteStatement& in) {
  AccountRow account;
  account.id = in.id<AccountId>();
  account.name = in.text();
  account.role = static_cast<Role>(in.integer());
  account.created_at = in.time();
  account.disabled_at = in.optional_time();
  return account;
}

ApiTokenRow read_token(SqliteStatement& in) {
  ApiTokenRow token;
  token.id = in.id<ApiTokenId>();
  token.account = in.id<AccountId>();
  token.hash = in.blob();
  token.name = in.text();
  token.role = static_cast<Role>(in.integer());
  token.created_at = in.time();
  token.expires_at = in.optional_time();
  token.last_used_at = in.optional_time();
  token.revoked_at = in.optional_time();
  return token;
}

}  // namespace

Result<std::optional<AccountRow>> SqliteAccountStore::find(const AccountId& id) {
  return read_optional(connection_.query("SELECT " OUTHAUL_ACCOUNT_COLUMNS " FROM accounts WHERE id = ?", id),
                       read_account);
}

Result<std::optional<AccountRow>> SqliteAccountStore::find_by_name(const std::string& name) {
  return read_optional(
      connection_.query("SELECT " OUTHAUL_ACCOUNT_COLUMNS " FROM accounts WHERE name = ?", name),
      read_account);
}

Result<Page<AccountRow>> SqliteAccountStore::list(const PageRequest& page) {
  OUTHAUL_TRY(start, parse_page_start<AccountId>(page));
  return read_page(
      connection_.query("SELECT " OUTHAUL_ACCOUNT_COLUMNS " FROM accounts WHERE id > ? ORDER BY id LIMIT ?",
                        start, rows_to_fetch(page)),
      read_account, page.limit);
}

Result<void> SqliteAccountStore::add(const AccountRow& account) {
  OUTHAUL_TRY(same_id, find(account.id));
  if (same_id) return row_exists("account");
  auto added = connection_.change("INSERT INTO accounts (" OUTHAUL_ACCOUNT_COLUMNS ") VALUES (?,?,?,?,?)",
                                  account.id, account.name, static_cast<std::int64_t>(account.role),
                                  account.created_at, account.disabled_at);
  if (!added && is_unique_violation(added.error())) {
    return fail(ErrorCode::name_taken, "account: another one has this name");
  }
  OUTHAUL_CHECK(added);
  return {};
}

Result<void> SqliteAccountStore::set_disabled(const AccountId& id, std::optional<WallTime> when) {
  OUTHAUL_TRY(changed, connection_.change("UPDATE accounts SET disabled_at = ? WHERE id = ?", when, id));
  if (changed == 0) return no_such_row("account");
  return {};
}

Result<std::optional<ApiTokenRow>> SqliteApiTokenStore::find(const ApiTokenId& id) {
  return read_optional(connection_.query("SELECT " OUTHAUL_TOKEN_COLUMNS " FROM api_tokens WHERE id = ?", id),
                       read_token);
}

Result<std::optional<ApiTokenRow>> SqliteApiTokenStore::find_by_hash(const Bytes& hash) {
  return read_optional(
      connection_.query("SELECT " OUTHAUL_TOKEN_COLUMNS " FROM api_tokens WHERE hash = ?", Blob(hash)),
      read_token);
}

Result<Page<ApiTokenRow>> SqliteApiTokenStore::list(const AccountId& account, const PageRequest& page) {
  OUTHAUL_TRY(start, parse_page_start<ApiTokenId>(page));
  auto found = account.is_empty()
                   ? connection_.query("SELECT " OUTHAUL_TOKEN_COLUMNS
                                       " FROM api_tokens WHERE id > ? ORDER BY id LIMIT ?",
                                       start, rows_to_fetch(page))
                   : connection_.query("SELECT " OUTHAUL_TOKEN_COLUMNS
                                       " FROM api_tokens WHERE account = ? AND id > ? ORDER BY id LIMIT ?",
                                       account, start, rows_to_fetch(page));
  return read_page(std::move(found), read_token, page.limit);
}

Result<void> SqliteApiTokenStore::add(const ApiTokenRow& token) {
  OUTHAUL_TRY(owners, connection_.number("SELECT count(*) FROM accounts WHERE id = ?", token.account));
  if (owners == 0) return no_such_row("account");
  auto added = connection_.change(
      "INSERT INTO api_tokens (" OUTHAUL_TOKEN_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?)", token.id,
      token.account, Blob(token.hash), token.name, static_cast<std::int64_t>(token.role), token.created_at,
      token.expires_at, token.last_used_at, token.revoked_at);
  if (!added && is_unique_violation(added.error())) return row_exists("API token");
  OUTHAUL_CHECK(added);
  return {};
}

Result<void> SqliteApiTokenStore::revoke(const ApiTokenId& id, WallTime when) {
  OUTHAUL_TRY(changed,
              connection_.change("UPDATE api_tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?",
                                 when, id));
  if (changed == 0) return no_such_row("API token");
  return {};
}

Result<void> SqliteApiTokenStore::note_used(const ApiTokenId& id, WallTime when) {
  OUTHAUL_CHECK(
      connection_.change("UPDATE api_tokens SET last_used_at = ?1 WHERE id = ?2 "
                         "AND (last_used_at IS NULL OR last_used_at < ?1)",
                         when, id));
  return {};
}

}  // namespace outhaul::store
