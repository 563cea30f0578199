// StdinPump: sends a task's input stream to its node. The hub is the writer of this stream and opens the
// channel; the node says from where, and acknowledges what it holds durably.
//   runs on  the hub's strand, as a child of the session
#pragma once

#include "base/log.h"
#include "hub/nodes/node_link.h"
#include "hub/tasks/live_task.h"
#include "stream/replication.h"
#include "stream/stream_store.h"

namespace outhaul::hub {

class StdinPump {
 public:
  StdinPump(stream::StreamStore& streams, const Log& log) : streams_(streams), log_(log) {}

  // Starts sending over this session; does nothing for a task without input. Ends with the stream, the task
  // or the session, whichever is first.
  void start(const LiveTaskPtr& task, NodeLink& link);

 private:
  Task<void> run(LiveTaskPtr task, NodeLink& link);
  Task<Result<void>> send_all(const StreamId& id, stream::WriterCursor cursor, transport::Channel& channel);
  Result<stream::WriterHoldings> holdings(const StreamId& id) const;

  stream::StreamStore& streams_;
  const Log& log_;
};

}  // namespace outhaul::hub
