#include "store/row_rules.h"
#include "store/sqlite_columns.h"
#include "store/sqlite_identity_stores.h"
#include "store/sqlite_rows.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_TOKEN_COLUMNS \
  "id, hash, created_by, created_at, expires_at, pool, labels, planes, redeemed_at, key_hash, node, answer"

EnrolmentTokenRow read_token(SqliteStatement& in) {
  EnrolmentTokenRow token;
  token.id = in.id<EnrolmentTokenId>();
  token.hash = in.blob();
  token.created_by = in.id<AccountId>();
  token.created_at = in.time();
  token.expires_at = in.time();
  token.pool = in.text();
  token.labels = assume_labels(in.text());
  token.planes = assume_planes(in.text());
  const auto redeemed_at = in.optional_time();
  if (!redeemed_at) return token;
  auto& redemption = token.redemption.emplace();
  redemption.redeemed_at = *redeemed_at;
  redemption.key_hash = in.blob();
  redemption.node = in.id<NodeId>();
  redemption.answer = in.blob();
  return token;
}

}  // namespace

Result<std::optional<EnrolmentTokenRow>> SqliteEnrolmentTokenStore::find_by_hash(const Bytes& hash) {
  return read_optional(
      connection_.query("SELECT " OUTHAUL_TOKEN_COLUMNS " FROM enrolment_tokens WHERE hash = ?", Blob(hash)),
      read_token);
}

Result<Page<EnrolmentTokenRow>> SqliteEnrolmentTokenStore::list(const PageRequest& page) {
  OUTHAUL_TRY(start, parse_page_start<EnrolmentTokenId>(page));
  const std::string_view before = start.is_empty() ? after_every_id : start.text();
  return read_page(connection_.query("SELECT " OUTHAUL_TOKEN_COLUMNS
                                     " FROM enrolment_tokens WHERE id < ? ORDER BY id DESC LIMIT ?",
                                     before, rows_to_fetch(page)),
                   read_token, page.limit);
}

Result<void> SqliteEnrolmentTokenStore::add(const EnrolmentTokenRow& token) {
  OUTHAUL_CHECK(check_labels(token.labels));
  OUTHAUL_CHECK(check_planes(token.planes));
  auto added = connection_.change(
      "INSERT INTO enrolment_tokens (id, hash, created_by, created_at, expires_at, pool, labels, planes) "
      "VALUES (?,?,?,?,?,?,?,?)",
      token.id, Blob(token.hash), token.created_by, token.created_at, token.expires_at, token.pool,
      column_of(token.labels), column_of(token.planes));
  if (!added && is_unique_violation(added.error())) return row_exists("enrolment token");
  OUTHAUL_CHECK(added);
  return {};
}

Result<RedeemOutcome> SqliteEnrolmentTokenStore::redeem(const Bytes& hash, const Redemption& use) {
  OUTHAUL_TRY(
      used, connection_.change("UPDATE enrolment_tokens SET key_hash = ?, node = ?, answer = ?, "
                               "redeemed_at = ?4 WHERE hash = ?5 AND redeemed_at IS NULL AND expires_at > ?4",
                               Blob(use.key_hash), use.node, Blob(use.answer), use.redeemed_at, Blob(hash)));
  if (used == 1) return RedeemOutcome{.is_first = true, .redemption = use};
  OUTHAUL_TRY(token, find_by_hash(hash));
  const bool is_same_key = token && token->redemption && token->redemption->key_hash == use.key_hash;
  if (!is_same_key || token->expires_at <= use.redeemed_at) return enrolment_token_refused();
  return RedeemOutcome{.is_first = false, .redemption = std::move(*token->redemption)};
}

Result<void> SqliteEnrolmentTokenStore::revoke(const EnrolmentTokenId& id) {
  OUTHAUL_TRY(revoked,
              connection_.change("DELETE FROM enrolment_tokens WHERE id = ? AND redeemed_at IS NULL", id));
  if (revoked != 0) return {};
  OUTHAUL_TRY(count, connection_.number("SELECT count(*) FROM enrolment_tokens WHERE id = ?", id));
  if (count == 0) return no_such_row("enrolment token");
  return fail(ErrorCode::conflict, "enrolment token: it was used");
}

Result<std::uint64_t> SqliteEnrolmentTokenStore::revoke_unused() {
  return connection_.change("DELETE FROM enrolment_tokens WHERE redeemed_at IS NULL");
}

Result<std::uint64_t> SqliteEnrolmentTokenStore::prune(WallTime time) {
  return connection_.change("DELETE FROM enrolment_tokens WHERE expires_at < ?", time);
}

}  // namespace outhaul::store
