// The in-memory stores of tasks, streams, idempotency keys and the deployment.
#pragma once

#include "store/memory_tables.h"

namespace outhaul::store {

class MemoryTaskStore final : public TaskStore {
 public:
  explicit MemoryTaskStore(MemoryTables& tables) : tasks_(tables.tasks) {}
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
  const TaskRow* find_streaming(const StreamId& stream) const;
  // A copy to change, unless there is none or it has ended.
  Result<TaskRow> copy_unfinished(const TaskId& id) const;
  MemoryTable<TaskId, TaskRow>& tasks_;
};

class MemoryStreamStore final : public StreamStore {
 public:
  explicit MemoryStreamStore(MemoryTables& tables) : streams_(tables.streams) {}
  Result<std::optional<StreamRow>> find(const StreamId& id) override;
  Result<std::optional<Bytes>> find_records(const StreamId& id) override;
  Result<void> add(const StreamRow& stream, ByteView records) override;
  Result<bool> remove(const StreamId& id) override;

 private:
  MemoryTable<StreamId, MemoryStream>& streams_;
};

class MemoryIdempotencyStore final : public IdempotencyStore {
 public:
  explicit MemoryIdempotencyStore(MemoryTables& tables) : rows_(tables.idempotency) {}
  Result<std::optional<IdempotencyRow>> find(const AccountId& owner, const std::string& key,
                                             WallTime now) override;
  Result<void> add(const IdempotencyRow& row) override;
  Result<void> set_answer(const AccountId& owner, const std::string& key, int status,
                          const Bytes& body) override;
  Result<std::uint64_t> prune(WallTime now) override;

 private:
  using Key = std::pair<AccountId, std::string>;
  MemoryTable<Key, IdempotencyRow>& rows_;
};

class MemoryDeploymentStore final : public DeploymentStore {
 public:
  explicit MemoryDeploymentStore(MemoryTables& tables)
      : deployments_(tables.deployments), settings_(tables.settings) {}
  Result<Deployment> load() override;
  Result<std::optional<Bytes>> find_setting(const std::string& name) override;
  Result<std::map<std::string, Bytes>> settings(const std::string& prefix) override;
  Result<std::uint64_t> raise_hub_epoch(std::uint64_t least) override;
  Result<void> put_setting(const std::string& name, const Bytes& value) override;
  Result<bool> remove_setting(const std::string& name) override;

 private:
  MemoryTable<std::string, Deployment>& deployments_;
  MemoryTable<std::string, Bytes>& settings_;
};

}  // namespace outhaul::store
