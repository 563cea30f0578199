// OutputReader: reads one stream from any offset to its end, wherever its records are: in the store while the
// task lives, in the database once it has ended. Of a task that ended without a result of its node, the last
// record is a result that says what the hub knows, so that every stream of a task ends with one.
//   runs on  the hub's strand
#pragma once

#include <optional>

#include "hub/tasks/live_task.h"
#include "store/database.h"
#include "stream/stream_store.h"

namespace outhaul::hub {

struct StreamSources {
  stream::StreamStore& streams;
  store::Database& database;
  const TaskBoard& board;
};

class OutputReader {
 public:
  // `from` counts payload bytes.
  OutputReader(const StreamSources& sources, StreamId id, std::uint64_t from)
      : sources_(sources), id_(std::move(id)), position_{from, false} {}

  enum class Wait { no, for_more };
  // The next whole records, at most `max_bytes` but at least one record. Empty at the end: of the stream, or,
  // without waiting, of what is there now.
  //   errors  not_found: no such stream. stream_gap: what lies at the offset was dropped (detail `start`).
  //           invalid: the offset is past the end. Those of the store and the database
  Task<Result<stream::ReadChunk>> next(std::size_t max_bytes, Wait wait);
  // True after the record that completes the stream was given.
  bool is_complete() const { return position_.complete; }

 private:
  Result<stream::ReadChunk> take(stream::ReadChunk chunk);
  Task<Result<stream::ReadChunk>> read_archive();
  Result<stream::ReadChunk> end_of(const store::TaskRow& row);
  bool is_past_end() const;
  bool is_completing() const;
  Task<void> wait_for_change(LiveTaskPtr task);

  StreamSources sources_;
  StreamId id_;
  stream::StreamPosition position_;
};

}  // namespace outhaul::hub
