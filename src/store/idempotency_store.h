// Answers already given, by account and Idempotency-Key, so that a request sent twice acts once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"

namespace outhaul::store {

struct IdempotencyRow {
  AccountId owner;
  std::string key;     // as the client sent it; the edge bounds it
  Bytes request_hash;  // SHA-256 of what the client asked
  int status = 0;      // HTTP status; 0 while the answer is not known yet
  Bytes body;
  TaskId task;  // empty when the request made no task
  WallTime created_at;
  WallTime expires_at;
  bool operator==(const IdempotencyRow&) const = default;
};

class IdempotencyReader {
 public:
  virtual ~IdempotencyReader() = default;
  // A row that has expired at `now` is not found.
  virtual Result<std::optional<IdempotencyRow>> find(const AccountId& owner, const std::string& key,
                                                     WallTime now) = 0;
};

class IdempotencyStore : public IdempotencyReader {
 public:
  // Replaces a row that has expired at `row.created_at`; conflict: a live one exists.
  virtual Result<void> add(const IdempotencyRow& row) = 0;
  // not_found: no such row.
  virtual Result<void> set_answer(const AccountId& owner, const std::string& key, int status,
                                  const Bytes& body) = 0;
  // Forgets rows that have expired at `now`; gives how many.
  virtual Result<std::uint64_t> prune(WallTime now) = 0;
};

}  // namespace outhaul::store
