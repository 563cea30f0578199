// The in-memory stores of nodes, enrolment tokens, accounts, API tokens and people's keys.
#pragma once

#include "store/memory_tables.h"

namespace outhaul::store {

class MemoryNodeStore final : public NodeStore {
 public:
  explicit MemoryNodeStore(MemoryTables& tables) : nodes_(tables.nodes) {}
  Result<std::optional<NodeRow>> find(const NodeId& id) override;
  Result<std::optional<NodeRow>> find_by_name(const std::string& name) override;
  Result<Page<NodeRow>> list(const PageRequest& page) override;
  Result<void> add(const NodeRow& node) override;
  Result<void> set_state(const NodeId& id, NodeState state) override;
  Result<void> set_certificate(const NodeId& id, const NodeCertificate& certificate) override;
  Result<void> set_rotation(const NodeId& id, const NodeRotation& rotation) override;
  Result<void> note_seen(const NodeId& id, const NodeSighting& sighting) override;
  Result<void> count(const NodeId& id, const NodeCounters& increments) override;

 private:
  const NodeRow* find_named(const std::string& name) const;
  MemoryTable<NodeId, NodeRow>& nodes_;
};

class MemoryEnrolmentTokenStore final : public EnrolmentTokenStore {
 public:
  explicit MemoryEnrolmentTokenStore(MemoryTables& tables) : tokens_(tables.enrolment_tokens) {}
  Result<std::optional<EnrolmentTokenRow>> find_by_hash(const Bytes& hash) override;
  Result<Page<EnrolmentTokenRow>> list(const PageRequest& page) override;
  Result<void> add(const EnrolmentTokenRow& token) override;
  Result<RedeemOutcome> redeem(const Bytes& hash, const Redemption& use) override;
  Result<EnrolmentWish> ask(const Bytes& hash, const EnrolmentWish& wish) override;
  Result<void> decide(const EnrolmentTokenId& id, const std::string& fingerprint, Approval approval) override;
  Result<void> revoke(const EnrolmentTokenId& id) override;
  Result<std::uint64_t> revoke_unused() override;
  Result<std::uint64_t> prune(WallTime time) override;

 private:
  const EnrolmentTokenRow* find_hashed(const Bytes& hash) const;
  std::uint64_t erase_if(const std::function<bool(const EnrolmentTokenRow&)>& is_meant);
  MemoryTable<EnrolmentTokenId, EnrolmentTokenRow>& tokens_;
};

class MemoryAccountStore final : public AccountStore {
 public:
  explicit MemoryAccountStore(MemoryTables& tables) : accounts_(tables.accounts) {}
  Result<std::optional<AccountRow>> find(const AccountId& id) override;
  Result<std::optional<AccountRow>> find_by_name(const std::string& name) override;
  Result<Page<AccountRow>> list(const PageRequest& page) override;
  Result<void> add(const AccountRow& account) override;
  Result<void> set_disabled(const AccountId& id, std::optional<WallTime> when) override;

 private:
  MemoryTable<AccountId, AccountRow>& accounts_;
};

class MemoryApiTokenStore final : public ApiTokenStore {
 public:
  explicit MemoryApiTokenStore(MemoryTables& tables)
      : accounts_(tables.accounts), tokens_(tables.api_tokens) {}
  Result<std::optional<ApiTokenRow>> find(const ApiTokenId& id) override;
  Result<std::optional<ApiTokenRow>> find_by_hash(const Bytes& hash) override;
  Result<Page<ApiTokenRow>> list(const AccountId& account, const PageRequest& page) override;
  Result<void> add(const ApiTokenRow& token) override;
  Result<void> revoke(const ApiTokenId& id, WallTime when) override;
  Result<void> note_used(const ApiTokenId& id, WallTime when) override;

 private:
  MemoryTable<AccountId, AccountRow>& accounts_;
  MemoryTable<ApiTokenId, ApiTokenRow>& tokens_;
};

class MemoryUserKeyStore final : public UserKeyStore {
 public:
  explicit MemoryUserKeyStore(MemoryTables& tables) : accounts_(tables.accounts), keys_(tables.user_keys) {}
  Result<std::optional<UserKeyRow>> find(const KeyId& id) override;
  Result<Page<UserKeyRow>> list(const AccountId& account, const PageRequest& page) override;
  Result<void> add(const UserKeyRow& key) override;
  Result<void> remove(const KeyId& id) override;

 private:
  MemoryTable<AccountId, AccountRow>& accounts_;
  MemoryTable<KeyId, UserKeyRow>& keys_;
};

}  // namespace outhaul::store
