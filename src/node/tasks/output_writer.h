// OutputWriter: a task's output on its way into its stream, counted and hashed. It can be rebuilt from
// what was written down, so a killed node goes on with the right totals.
//   runs on  the node's strand
#pragma once

#include <optional>
#include <span>

#include "base/task.h"
#include "node/tasks/task_ledger.h"
#include "sandbox/process_launcher.h"
#include "stream/stream_store.h"
#include "wire/task_result.h"

namespace outhaul::node {

class OutputWriter {
 public:
  // The stream exists; the store outlives the writer.
  OutputWriter(stream::StreamStore& streams, StreamId stream);

  // Brings the totals up to the stream's end: from `written_down`, then by reading what follows. Bytes that
  // this node lost with its power, and that only the hub has, leave the hashes unknown.
  //   errors  those of StreamStore::read
  Task<Result<void>> recover(const std::optional<OutputTotals>& written_down);

  // Appends, in one write, what of these chunks (they follow each other) the stream does not hold yet. Fails
  // with exhausted or disk_full when there is no room: ask again later, with the same ones. Other failures
  // are final.
  Result<void> append(std::span<const sandbox::OutputChunk> chunks);
  // A record of kind event: JSON of one line.
  Result<void> append_event(WallTime time, ByteView json);

  // Counts and hashes what of the chunk is new and keeps none of it: there is no room.
  void leave_out(const sandbox::OutputChunk& chunk);
  // Says in the stream how much was left out, when no gap says it yet. Fails as StreamStore::append_gap.
  Result<void> append_gap(WallTime time);
  std::uint64_t left_out() const { return left_out_; }

  const OutputTotals& totals() const { return totals_; }
  // What is known of each kind; the hash is empty when it is not.
  wire::StreamTotals out() const { return {totals_.out_bytes, known(totals_.out_hash)}; }
  wire::StreamTotals err() const { return {totals_.err_bytes, known(totals_.err_hash)}; }

 private:
  Bytes known(const crypto::ResumableSha256& hash) const { return lost_ == 0 ? hash.digest() : Bytes(); }
  std::uint64_t produced() const { return totals_.out_bytes + totals_.err_bytes + lost_; }
  void count(stream::RecordKind kind, ByteView payload);
  void note_gap(std::uint64_t bytes);
  Result<void> count_records(ByteView records);

  stream::StreamStore& streams_;
  StreamId stream_;
  OutputTotals totals_;
  std::uint64_t lost_ = 0;      // bytes of a kind that nobody here knows
  std::uint64_t left_out_ = 0;  // for want of room
  std::uint64_t marked_ = 0;    // of these, what gaps in the stream say
};

}  // namespace outhaul::node
