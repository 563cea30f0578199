#include "store/row_rules.h"
#include "store/sqlite_identity_stores.h"
#include "store/sqlite_rows.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_USER_KEY_COLUMNS "id, account, public_key, name, created_at"

UserKeyRow read_user_key(SqliteStatement& in) {
  UserKeyRow key;
  key.id = in.id<KeyId>();
  key.account = in.id<AccountId>();
  key.public_key = in.blob();
  key.name = in.text();
  key.created_at = in.time();
  return key;
}

}  // namespace

Result<std::optional<UserKeyRow>> SqliteUserKeyStore::find(const KeyId& id) {
  return read_optional(
      connection_.query("SELECT " OUTHAUL_USER_KEY_COLUMNS " FROM user_keys WHERE id = ?", id),
      read_user_key);
}

Result<Page<UserKeyRow>> SqliteUserKeyStore::list(const AccountId& account, const PageRequest& page) {
  OUTHAUL_TRY(start, parse_page_start<KeyId>(page));
  auto found = account.is_empty()
                   ? connection_.query("SELECT " OUTHAUL_USER_KEY_COLUMNS
                                       " FROM user_keys WHERE id > ? ORDER BY id LIMIT ?",
                                       start, rows_to_fetch(page))
                   : connection_.query("SELECT " OUTHAUL_USER_KEY_COLUMNS
                                       " FROM user_keys WHERE account = ? AND id > ? ORDER BY id LIMIT ?",
                                       account, start, rows_to_fetch(page));
  return read_page(std::move(found), read_user_key, page.limit);
}

Result<void> SqliteUserKeyStore::add(const UserKeyRow& key) {
  OUTHAUL_TRY(owners, connection_.number("SELECT count(*) FROM accounts WHERE id = ?", key.account));
  if (owners == 0) return no_such_row("account");
  auto added = connection_.change("INSERT INTO user_keys (" OUTHAUL_USER_KEY_COLUMNS ") VALUES (?,?,?,?,?)",
                                  key.id, key.account, Blob(key.public_key), key.name, key.created_at);
  if (!added && is_unique_violation(added.error())) return row_exists("key");
  OUTHAUL_CHECK(added);
  return {};
}

Result<void> SqliteUserKeyStore::remove(const KeyId& id) {
  OUTHAUL_TRY(changed, connection_.change("DELETE FROM user_keys WHERE id = ?", id));
  if (changed == 0) return no_such_row("key");
  return {};
}

}  // namespace outhaul::store
