#include "store/row_rules.h"
#include "store/sqlite_columns.h"
#include "store/sqlite_identity_stores.h"
#include "store/sqlite_rows.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_TOKEN_COLUMNS                                                                              \
  "id, hash, created_by, created_at, expires_at, pool, labels, planes, needs_approval, wish_asked_at, "    \
  "wish_key_hash, wish_fingerprint, wish_name, wish_address, wish_approval, redeemed_at, key_hash, node, " \
  "answer"

std::optional<EnrolmentWish> read_wish(SqliteStatement& in) {
  const auto asked_at = in.optional_time();
  EnrolmentWish wish;
  wish.key_hash = in.blob();
  wish.fingerprint = in.text();
  wish.name = in.text();
  wish.address = in.text();
  wish.approval = static_cast<Approval>(in.integer());
  if (!asked_at) return std::nullopt;
  wish.asked_at = *asked_at;
  return wish;
}

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
  token.needs_approval = in.integer() != 0;
  token.wish = read_wish(in);
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
      "INSERT INTO enrolment_tokens (id, hash, created_by, created_at, expires_at, pool, labels, planes, "
      "needs_approval) VALUES (?,?,?,?,?,?,?,?,?)",
      token.id, Blob(token.hash), token.created_by, token.created_at, token.expires_at, token.pool,
      column_of(token.labels), column_of(token.planes), static_cast<std::int64_t>(token.needs_approval));
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

Result<EnrolmentWish> SqliteEnrolmentTokenStore::ask(const Bytes& hash, const EnrolmentWish& wish) {
  OUTHAUL_CHECK(connection_.change(
      "UPDATE enrolment_tokens SET wish_asked_at = ?1, wish_key_hash = ?2, wish_fingerprint = ?3, wish_name "
      "= ?4, "
      "wish_address = ?5, wish_approval = 0 WHERE hash = ?6 AND needs_approval <> 0 AND wish_asked_at IS "
      "NULL "
      "AND expires_at > ?1",
      wish.asked_at, Blob(wish.key_hash), wish.fingerprint, wish.name, wish.address, Blob(hash)));
  OUTHAUL_TRY(token, find_by_hash(hash));
  const bool is_theirs = token && token->wish && token->wish->key_hash == wish.key_hash;
  if (!is_theirs || token->expires_at <= wish.asked_at) return enrolment_token_refused();
  return std::move(*token->wish);
}

Result<void> SqliteEnrolmentTokenStore::decide(const EnrolmentTokenId& id, const std::string& fingerprint,
                                               Approval approval) {
  OUTHAUL_TRY(decided, connection_.change("UPDATE enrolment_tokens SET wish_approval = ?1 WHERE id = ?2 AND "
                                          "wish_fingerprint = ?3 AND wish_approval IN (0, ?1)",
                                          static_cast<std::int64_t>(approval), id, fingerprint));
  if (decided != 0) return {};
  OUTHAUL_TRY(count,
              connection_.number(
                  "SELECT count(*) FROM enrolment_tokens WHERE id = ? AND wish_asked_at IS NOT NULL", id));
  return count == 0 ? nobody_asked() : decided_otherwise();
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
