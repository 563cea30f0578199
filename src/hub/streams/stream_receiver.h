// StreamReceiver: takes the streams that one node replicates to the hub. A stream is taken only for a task
// that runs on this node: one that the hub knows, or one that bears the hub's own signature and is adopted.
//   runs on  the hub's strand; each stream is a child of the session
#pragma once

#include <span>
#include <vector>

#include "hub/nodes/node_link.h"
#include "hub/streams/ack_batch.h"
#include "hub/tasks/courier.h"
#include "hub/tasks/task_adoption.h"
#include "hub/tasks/task_ender.h"
#include "stream/record_decoder.h"
#include "stream/replication.h"
#include "transport/tunnel.h"

namespace outhaul::hub {

class StreamReceiver {
 public:
  struct Needs {
    AsyncClock& clock;
    const Log& log;
    stream::StreamStore& streams;
    Courier& courier;
    TaskAdoption& adoption;
    TaskEnder& ender;
  };
  // `acks` belongs to the same session as the streams.
  StreamReceiver(const Needs& needs, AckBatch& acks) : needs_(needs), acks_(acks) {}

  // Answers the channel and takes the stream to its end, or to the session's.
  Task<void> receive(transport::IncomingChannel incoming, NodeLink& link);

 private:
  struct Inlet;
  Result<Inlet> open_inlet(const LiveTaskPtr& task, const v1::StreamOpen& open);
  Task<Result<void>> receive_records(Inlet& inlet, transport::Channel& channel);
  // Records that follow each other and are new.
  struct Run {
    std::vector<stream::EncodedRecord> records;
    std::size_t bytes = 0;  // as they came
    bool completes = false;
  };
  Result<Run> gather_run(Inlet& inlet, stream::RecordDecoder& decoder, transport::Channel& channel,
                         Bytes& piece);
  Task<Result<void>> take_run(const Inlet& inlet, const Run& run);
  Task<Result<void>> append(const Inlet& inlet, std::span<const stream::EncodedRecord> records);
  // The completing record is in the store: ends the task and lets the node forget.
  Task<void> complete(const Inlet& inlet);

  Needs needs_;
  AckBatch& acks_;
};

}  // namespace outhaul::hub
