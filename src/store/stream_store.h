// Where the records of a stream are once the stream is complete: a small one moves in here in the
// transaction that finishes its task, so that the journal can forget it; of a large one a row only says
// that its segments hold it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"

namespace outhaul::store {

enum class StreamPlace { archived = 0, segments = 1 };

struct StreamRow {
  StreamId id;
  TaskId task;
  StreamPlace place = StreamPlace::archived;
  Bytes incarnation;                // 8 bytes
  std::uint64_t payload_bytes = 0;  // offset after the last record
  WallTime completed_at;
  bool operator==(const StreamRow&) const = default;
};

// 256 KiB of payload in one-byte records would need 33 times as much.
constexpr std::size_t max_archived_bytes = 16U << 20U;

class StreamReader {
 public:
  virtual ~StreamReader() = default;
  virtual Result<std::optional<StreamRow>> find(const StreamId& id) = 0;
  // The encoded records of an archived stream; empty when there is none.
  virtual Result<std::optional<Bytes>> find_records(const StreamId& id) = 0;
};

class StreamStore : public StreamReader {
 public:
  // `records` are the encoded records when place is archived, else empty (anything else is `invalid`).
  // too_large: over max_archived_bytes. conflict: the id exists; a complete stream never changes.
  virtual Result<void> add(const StreamRow& stream, ByteView records) = 0;
  // Gives false when there was none.
  virtual Result<bool> remove(const StreamId& id) = 0;
};

}  // namespace outhaul::store
