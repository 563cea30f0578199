// StreamReceiver: takes the streams that one node replicates to the hub. A stream is taken only for a task
// that runs on this node: one that the hub knows, or one that bears the hub's own signature and is adopted.
//   runs on  the hub's strand; each stream is a child of the session
#pragma once

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
  Task<Result<void>> take_record(Inlet& inlet, const stream::EncodedRecord& record);
  Task<Result<void>> append(const Inlet& inlet, const stream::EncodedRecord& record);
  // The completing record is in the store: ends the task and lets the node forget.
  Task<void> complete(const Inlet& inlet);

  Needs needs_;
  AckBatch& acks_;
};

}  // namespace outhaul::hub
