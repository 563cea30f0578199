// The SQLite stores of nodes, enrolment tokens, accounts, API tokens and people's keys. Each works in
// whatever transaction its connection is in.
#pragma once

#include "store/sqlite_connection.h"
#include "store/transaction.h"

namespace outhaul::store {

class SqliteNodeStore final : public NodeStore {
 public:
  explicit SqliteNodeStore(SqliteConnection& connection) : connection_(connection) {}
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
  Result<void> insert(const NodeRow& node);
  SqliteConnection& connection_;
};

class SqliteEnrolmentTokenStore final : public EnrolmentTokenStore {
 public:
  explicit SqliteEnrolmentTokenStore(SqliteConnection& connection) : connection_(connection) {}
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
  SqliteConnection& connection_;
};

class SqliteAccountStore final : public AccountStore {
 public:
  explicit SqliteAccountStore(SqliteConnection& connection) : connection_(connection) {}
  Result<std::optional<AccountRow>> find(const AccountId& id) override;
  Result<std::optional<AccountRow>> find_by_name(const std::string& name) override;
  Result<Page<AccountRow>> list(const PageRequest& page) override;
  Result<void> add(const AccountRow& account) override;
  Result<void> set_disabled(const AccountId& id, std::optional<WallTime> when) override;

 private:
  SqliteConnection& connection_;
};

class SqliteApiTokenStore final : public ApiTokenStore {
 public:
  explicit SqliteApiTokenStore(SqliteConnection& connection) : connection_(connection) {}
  Result<std::optional<ApiTokenRow>> find(const ApiTokenId& id) override;
  Result<std::optional<ApiTokenRow>> find_by_hash(const Bytes& hash) override;
  Result<Page<ApiTokenRow>> list(const AccountId& account, const PageRequest& page) override;
  Result<void> add(const ApiTokenRow& token) override;
  Result<void> revoke(const ApiTokenId& id, WallTime when) override;
  Result<void> note_used(const ApiTokenId& id, WallTime when) override;

 private:
  SqliteConnection& connection_;
};

class SqliteUserKeyStore final : public UserKeyStore {
 public:
  explicit SqliteUserKeyStore(SqliteConnection& connection) : connection_(connection) {}
  Result<std::optional<UserKeyRow>> find(const KeyId& id) override;
  Result<Page<UserKeyRow>> list(const AccountId& account, const PageRequest& page) override;
  Result<void> add(const UserKeyRow& key) override;
  Result<void> remove(const KeyId& id) override;

 private:
  SqliteConnection& connection_;
};

}  // namespace outhaul::store
