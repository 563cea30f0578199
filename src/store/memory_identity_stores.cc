#include "store/memory_identity_stores.h"

#include <algorithm>

#include "store/memory_listing.h"
#include "store/row_rules.h"

namespace outhaul::store {
namespace {

constexpr auto every_row = [](const auto&) { return true; };

}  // namespace

Result<std::optional<NodeRow>> MemoryNodeStore::find(const NodeId& id) { return copy_of(nodes_.find(id)); }

Result<std::optional<NodeRow>> MemoryNodeStore::find_by_name(const std::string& name) {
  return copy_of(find_named(name));
}

Result<Page<NodeRow>> MemoryNodeStore::list(const PageRequest& page) {
  return list_oldest_first(nodes_, page, every_row);
}

Result<void> MemoryNodeStore::add(const NodeRow& node) {
  OUTHAUL_CHECK(check_labels(node.labels));
  OUTHAUL_CHECK(check_planes(node.planes));
  if (nodes_.find(node.id) != nullptr) return row_exists("node");
  if (node.state != NodeState::removed && find_named(node.name) != nullptr) {
    return fail(ErrorCode::name_taken, "node: another one has this name");
  }
  nodes_.put(node.id, node);
  return {};
}

Result<void> MemoryNodeStore::set_state(const NodeId& id, NodeState state) {
  const auto* node = nodes_.find(id);
  if (node == nullptr) return no_such_row("node");
  if (node->state == NodeState::removed && state != NodeState::removed) {
    return fail(ErrorCode::node_removed, "node: it was removed");
  }
  NodeRow changed = *node;
  changed.state = state;
  nodes_.put(id, std::move(changed));
  return {};
}

Result<void> MemoryNodeStore::set_certificate(const NodeId& id, const NodeCertificate& certificate) {
  const auto* node = nodes_.find(id);
  if (node == nullptr) return no_such_row("node");
  NodeRow changed = *node;
  changed.certificate = certificate;
  nodes_.put(id, std::move(changed));
  return {};
}

Result<void> MemoryNodeStore::set_rotation(const NodeId& id, const NodeRotation& rotation) {
  const auto* node = nodes_.find(id);
  if (node == nullptr) return no_such_row("node");
  NodeRow changed = *node;
  changed.rotation = rotation;
  nodes_.put(id, std::move(changed));
  return {};
}

Result<void> MemoryNodeStore::note_seen(const NodeId& id, const NodeSighting& sighting) {
  const auto* node = nodes_.find(id);
  if (node == nullptr) return no_such_row("node");
  NodeRow changed = *node;
  changed.last_seen = sighting;
  nodes_.put(id, std::move(changed));
  return {};
}

Result<void> MemoryNodeStore::count(const NodeId& id, const NodeCounters& increments) {
  const auto* node = nodes_.find(id);
  if (node == nullptr) return no_such_row("node");
  NodeRow changed = *node;
  changed.counters.tasks_finished += increments.tasks_finished;
  changed.counters.tasks_failed += increments.tasks_failed;
  changed.counters.tasks_lost += increments.tasks_lost;
  changed.counters.crashes += increments.crashes;
  nodes_.put(id, std::move(changed));
  return {};
}

const NodeRow* MemoryNodeStore::find_named(const std::string& name) const {
  return nodes_.find_if(
      [&](const NodeRow& row) { return row.state != NodeState::removed && row.name == name; });
}

Result<std::optional<EnrolmentTokenRow>> MemoryEnrolmentTokenStore::find_by_hash(const Bytes& hash) {
  return copy_of(find_hashed(hash));
}

Result<Page<EnrolmentTokenRow>> MemoryEnrolmentTokenStore::list(const PageRequest& page) {
  return list_newest_first(tokens_, page, every_row);
}

Result<void> MemoryEnrolmentTokenStore::add(const EnrolmentTokenRow& token) {
  OUTHAUL_CHECK(check_labels(token.labels));
  OUTHAUL_CHECK(check_planes(token.planes));
  if (tokens_.find(token.id) != nullptr || find_hashed(token.hash) != nullptr) {
    return row_exists("enrolment token");
  }
  EnrolmentTokenRow fresh = token;
  fresh.redemption.reset();
  fresh.wish.reset();
  tokens_.put(token.id, std::move(fresh));
  return {};
}

Result<RedeemOutcome> MemoryEnrolmentTokenStore::redeem(const Bytes& hash, const Redemption& use) {
  const auto* token = find_hashed(hash);
  if (token == nullptr || token->expires_at <= use.redeemed_at) return enrolment_token_refused();
  if (token->redemption) {
    if (token->redemption->key_hash != use.key_hash) return enrolment_token_refused();
    return RedeemOutcome{.is_first = false, .redemption = *token->redemption};
  }
  EnrolmentTokenRow used = *token;
  used.redemption = use;
  tokens_.put(used.id, used);
  return RedeemOutcome{.is_first = true, .redemption = use};
}

Result<EnrolmentWish> MemoryEnrolmentTokenStore::ask(const Bytes& hash, const EnrolmentWish& wish) {
  const auto* token = find_hashed(hash);
  if (token == nullptr || !token->needs_approval || token->expires_at <= wish.asked_at)
    return enrolment_token_refused();
  if (!token->wish) {
    EnrolmentTokenRow asked = *token;
    asked.wish = wish;
    asked.wish->approval = Approval::asked;
    tokens_.put(asked.id, asked);
    return *asked.wish;
  }
  if (token->wish->key_hash != wish.key_hash) return enrolment_token_refused();
  return *token->wish;
}

Result<void> MemoryEnrolmentTokenStore::decide(const EnrolmentTokenId& id, const std::string& fingerprint,
                                               Approval approval) {
  const auto* token = tokens_.find(id);
  if (token == nullptr || !token->wish) return nobody_asked();
  const auto& wish = *token->wish;
  if (wish.fingerprint != fingerprint) return decided_otherwise();
  if (wish.approval != Approval::asked && wish.approval != approval) return decided_otherwise();
  EnrolmentTokenRow decided = *token;
  decided.wish->approval = approval;
  tokens_.put(id, std::move(decided));
  return {};
}

Result<void> MemoryEnrolmentTokenStore::revoke(const EnrolmentTokenId& id) {
  const auto* token = tokens_.find(id);
  if (token == nullptr) return no_such_row("enrolment token");
  if (token->redemption) return fail(ErrorCode::conflict, "enrolment token: it was used");
  tokens_.erase(id);
  return {};
}

std::uint64_t MemoryEnrolmentTokenStore::erase_if(
    const std::function<bool(const EnrolmentTokenRow&)>& is_meant) {
  std::vector<EnrolmentTokenId> meant;
  for (const auto& [id, row] : tokens_.rows()) {
    if (is_meant(row)) meant.push_back(id);
  }
  for (const auto& id : meant) tokens_.erase(id);
  return meant.size();
}

Result<std::uint64_t> MemoryEnrolmentTokenStore::revoke_unused() {
  return erase_if([](const EnrolmentTokenRow& row) { return !row.redemption; });
}

Result<std::uint64_t> MemoryEnrolmentTokenStore::prune(WallTime time) {
  return erase_if([time](const EnrolmentTokenRow& row) { return row.expires_at < time; });
}

const EnrolmentTokenRow* MemoryEnrolmentTokenStore::find_hashed(const Bytes& hash) const {
  return tokens_.find_if([&](const EnrolmentTokenRow& row) { return row.hash == hash; });
}

Result<std::optional<AccountRow>> MemoryAccountStore::find(const AccountId& id) {
  return copy_of(accounts_.find(id));
}

Result<std::optional<AccountRow>> MemoryAccountStore::find_by_name(const std::string& name) {
  return copy_of(accounts_.find_if([&](const AccountRow& row) { return row.name == name; }));
}

Result<Page<AccountRow>> MemoryAccountStore::list(const PageRequest& page) {
  return list_oldest_first(accounts_, page, every_row);
}

Result<void> MemoryAccountStore::add(const AccountRow& account) {
  if (accounts_.find(account.id) != nullptr) return row_exists("account");
  if (accounts_.find_if([&](const AccountRow& row) { return row.name == account.name; }) != nullptr) {
    return fail(ErrorCode::name_taken, "account: another one has this name");
  }
  accounts_.put(account.id, account);
  return {};
}

Result<void> MemoryAccountStore::set_disabled(const AccountId& id, std::optional<WallTime> when) {
  const auto* account = accounts_.find(id);
  if (account == nullptr) return no_such_row("account");
  AccountRow changed = *account;
  changed.disabled_at = when;
  accounts_.put(id, std::move(changed));
  return {};
}

Result<std::optional<ApiTokenRow>> MemoryApiTokenStore::find(const ApiTokenId& id) {
  return copy_of(tokens_.find(id));
}

Result<std::optional<ApiTokenRow>> MemoryApiTokenStore::find_by_hash(const Bytes& hash) {
  return copy_of(tokens_.find_if([&](const ApiTokenRow& row) { return row.hash == hash; }));
}

Result<Page<ApiTokenRow>> MemoryApiTokenStore::list(const AccountId& account, const PageRequest& page) {
  return list_oldest_first(
      tokens_, page, [&](const ApiTokenRow& row) { return account.is_empty() || row.account == account; });
}

Result<void> MemoryApiTokenStore::add(const ApiTokenRow& token) {
  if (accounts_.find(token.account) == nullptr) return no_such_row("account");
  const bool has_hash =
      tokens_.find_if([&](const ApiTokenRow& row) { return row.hash == token.hash; }) != nullptr;
  if (has_hash || tokens_.find(token.id) != nullptr) return row_exists("API token");
  tokens_.put(token.id, token);
  return {};
}

Result<void> MemoryApiTokenStore::revoke(const ApiTokenId& id, WallTime when) {
  const auto* token = tokens_.find(id);
  if (token == nullptr) return no_such_row("API token");
  if (token->revoked_at) return {};
  ApiTokenRow changed = *token;
  changed.revoked_at = when;
  tokens_.put(id, std::move(changed));
  return {};
}

Result<void> MemoryApiTokenStore::note_used(const ApiTokenId& id, WallTime when) {
  const auto* token = tokens_.find(id);
  if (token == nullptr || token->last_used_at >= when) return {};
  ApiTokenRow changed = *token;
  changed.last_used_at = when;
  tokens_.put(id, std::move(changed));
  return {};
}

Result<std::optional<UserKeyRow>> MemoryUserKeyStore::find(const KeyId& id) {
  return copy_of(keys_.find(id));
}

Result<Page<UserKeyRow>> MemoryUserKeyStore::list(const AccountId& account, const PageRequest& page) {
  return list_oldest_first(
      keys_, page, [&](const UserKeyRow& row) { return account.is_empty() || row.account == account; });
}

Result<void> MemoryUserKeyStore::add(const UserKeyRow& key) {
  if (accounts_.find(key.account) == nullptr) return no_such_row("account");
  if (keys_.find(key.id) != nullptr) return row_exists("key");
  keys_.put(key.id, key);
  return {};
}

Result<void> MemoryUserKeyStore::remove(const KeyId& id) {
  if (!keys_.erase(id)) return no_such_row("key");
  return {};
}

}  // namespace outhaul::store
