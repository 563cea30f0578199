// What MemoryStorage holds: ordered maps whose every change can be undone.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "store/transaction.h"

namespace outhaul::store {

// The changes of the group that is not durable yet, newest last.
class UndoLog {
 public:
  void add(std::function<void()> step) { steps_.push_back(std::move(step)); }
  std::size_t mark() const { return steps_.size(); }
  // Undoes everything after `mark`.
  void undo_to(std::size_t mark) {
    for (; steps_.size() > mark; steps_.pop_back()) steps_.back()();
  }
  // The group is durable.
  void forget() { steps_.clear(); }

 private:
  std::vector<std::function<void()>> steps_;
};

template <class Key, class Row>
class MemoryTable {
 public:
  explicit MemoryTable(UndoLog& undo) : undo_(undo) {}

  const std::map<Key, Row>& rows() const { return rows_; }
  // Null when there is none; valid until the row changes.
  const Row* find(const Key& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? nullptr : &found->second;
  }
  void put(const Key& key, Row row) {
    log_undo(key);
    rows_.insert_or_assign(key, std::move(row));
  }
  bool erase(const Key& key) {
    if (find(key) == nullptr) return false;
    log_undo(key);
    rows_.erase(key);
    return true;
  }
  // What a backup took; nothing undoes it.
  void copy_rows(const MemoryTable& other) { rows_ = other.rows_; }
  // The row that `matches`; keys first to last. Linear: simulated tables are small.
  template <class Match>
  const Row* find_if(Match matches) const {
    for (const auto& [key, row] : rows_) {
      if (matches(row)) return &row;
    }
    return nullptr;
  }

 private:
  void log_undo(const Key& key) {
    auto before = rows_.extract(key);
    if (before.empty()) {
      undo_.add([this, key] { rows_.erase(key); });
      return;
    }
    undo_.add([this, key, row = before.mapped()] { rows_.insert_or_assign(key, row); });
    rows_.insert(std::move(before));
  }

  UndoLog& undo_;
  std::map<Key, Row> rows_;
};

struct MemoryStream {
  StreamRow row;
  Bytes records;
};

struct MemoryTables {
  UndoLog undo;
  MemoryTable<NodeId, NodeRow> nodes{undo};
  MemoryTable<EnrolmentTokenId, EnrolmentTokenRow> enrolment_tokens{undo};
  MemoryTable<AccountId, AccountRow> accounts{undo};
  MemoryTable<ApiTokenId, ApiTokenRow> api_tokens{undo};
  MemoryTable<KeyId, UserKeyRow> user_keys{undo};
  MemoryTable<TaskId, TaskRow> tasks{undo};
  MemoryTable<StreamId, MemoryStream> streams{undo};
  MemoryTable<std::pair<AccountId, std::string>, IdempotencyRow> idempotency{undo};
  MemoryTable<std::string, Bytes> settings{undo};
  // One row, under the deployment's name.
  MemoryTable<std::string, Deployment> deployments{undo};

  void copy_rows(const MemoryTables& other) {
    nodes.copy_rows(other.nodes);
    enrolment_tokens.copy_rows(other.enrolment_tokens);
    accounts.copy_rows(other.accounts);
    api_tokens.copy_rows(other.api_tokens);
    user_keys.copy_rows(other.user_keys);
    tasks.copy_rows(other.tasks);
    streams.copy_rows(other.streams);
    idempotency.copy_rows(other.idempotency);
    settings.copy_rows(other.settings);
    deployments.copy_rows(other.deployments);
  }
};

}  // namespace outhaul::store
