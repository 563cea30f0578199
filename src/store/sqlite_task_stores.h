// The SQLite stores of tasks, streams, idempotency keys and the deployment. Each works in whatever
// transaction its connection is in.
#pragma once

#include "store/sqlite_connection.h"
#include "store/transaction.h"

namespace outhaul::store {

class SqliteTaskStore final : public TaskStore {
 public:
  explicit SqliteTaskStore(SqliteConnection& connection) : connection_(connection) {}
  Result<std::optional<TaskRow>> find(const TaskId& id) override;
  Result<std::optional<TaskRow>> find_by_stream(const StreamId& stream) override;
  Result<Page<TaskRow>> list(const TaskFilter& filter, const PageRequest& page) override;
  Result<std::vector<TaskRow>> unfinished(const NodeId& node) override;
  Result<void> add(const TaskRow& task) override;
  Result<void> dispatch(const TaskId& id, const NodeId& node, const Bytes& envelope, WallTime when) override;
  Result<void> advance(const TaskId& id, TaskState state, WallTime when) override;
  Result<void> requeue(const TaskId& id) override;
  Result<void> request_cancel(const TaskId& id, WallTime when) override;
  Result<void> finish(const TaskId& id, const TaskEnd& end) override;
  Result<std::uint64_t> doubt_unfinished() override;
  Result<void> settle_doubt(const TaskId& id, const NodeId& node, const Bytes& envelope,
                            WallTime when) override;

 private:
  Result<TaskState> load_state(const TaskId& id);
  // Why a guarded change touched no row: none there, ended, or `conflict` with this sentence.
  Result<void> explain_unchanged(const TaskId& id, std::string_view conflict);
  SqliteConnection& connection_;
};

class SqliteStreamStore final : public StreamStore {
 public:
  explicit SqliteStreamStore(SqliteConnection& connection) : connection_(connection) {}
  Result<std::optional<StreamRow>> find(const StreamId& id) override;
  Result<std::optional<Bytes>> find_records(const StreamId& id) override;
  Result<void> add(const StreamRow& stream, ByteView records) override;
  Result<bool> remove(const StreamId& id) override;

 private:
  SqliteConnection& connection_;
};

class SqliteIdempotencyStore final : public IdempotencyStore {
 public:
  explicit SqliteIdempotencyStore(SqliteConnection& connection) : connection_(connection) {}
  Result<std::optional<IdempotencyRow>> find(const AccountId& owner, const std::string& key,
                                             WallTime now) override;
  Result<void> add(const IdempotencyRow& row) override;
  Result<void> set_answer(const AccountId& owner, const std::string& key, int status,
                          const Bytes& body) override;
  Result<std::uint64_t> prune(WallTime now) override;

 private:
  SqliteConnection& connection_;
};

class SqliteDeploymentStore final : public DeploymentStore {
 public:
  explicit SqliteDeploymentStore(SqliteConnection& connection) : connection_(connection) {}
  Result<Deployment> load() override;
  Result<std::optional<Bytes>> find_setting(const std::string& name) override;
  Result<std::map<std::string, Bytes>> settings(const std::string& prefix) override;
  Result<std::uint64_t> raise_hub_epoch(std::uint64_t least) override;
  Result<void> put_setting(const std::string& name, const Bytes& value) override;
  Result<bool> remove_setting(const std::string& name) override;

 private:
  SqliteConnection& connection_;
};

}  // namespace outhaul::store
