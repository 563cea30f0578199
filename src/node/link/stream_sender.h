// StreamSender: replicates one output stream to the hub over one session, from where the hub stands to its
// end. Streams survive sessions, senders do not.
//   runs on  the node's strand; replicate() is spawned in the session's TaskGroup
#pragma once

#include <functional>
#include <memory>

#include "base/async_clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/task_group.h"
#include "node/tasks/task_ledger.h"
#include "stream/replication.h"
#include "stream/stream_store.h"
#include "transport/tunnel.h"

namespace outhaul::node {

class StreamSender : public std::enable_shared_from_this<StreamSender> {
 public:
  // All outlive the sender.
  struct Ports {
    Executor executor;
    AsyncClock& clock;
    stream::StreamStore& streams;
    const TaskLedger& ledger;
    transport::Tunnel& tunnel;
    TaskGroup& group;  // of the session
    const Log& log;
    // The hub durably holds the stream up to a position that can be.
    std::function<void(const StreamId&, stream::StreamPosition)> on_held;
  };
  enum class Opening {
    with_first_bytes,  // of a task that this session has brought: both leave in one message
    at_once,  // of one that was here before: a hub that was restored learns of it, also when it is silent
  };
  // `acknowledged`: what the hub said at the session's start that it holds.
  StreamSender(const Ports& ports, StreamId stream, stream::StreamPosition acknowledged, Opening opening);

  // Completes when everything is sent and its channel finished, or the stream is gone. A hub that refuses is
  // asked again, ever more slowly. The session's end cancels it.
  Task<void> replicate();
  // From the hub.
  void acknowledge(stream::StreamPosition position);

 private:
  struct Attempt;  // one channel's life
  enum class Outcome { done, unknown_to_hub, failed };

  Task<Outcome> attempt(bool with_envelope);

  Task<void> send_over(std::shared_ptr<Attempt> attempt);
  // False: nothing to send now.
  Task<bool> send_some(Attempt& attempt);
  Task<void> await_answer(std::shared_ptr<Attempt> attempt);
  void take_answer(Attempt& attempt, const v1::Accept& accept);
  void adopt(stream::StreamPosition reader);
  Task<void> await_more(Attempt& attempt);
  v1::Open make_open(bool with_envelope);
  std::optional<stream::WriterHoldings> holdings() const;

  const Ports& ports_;
  StreamId stream_;
  Opening opening_;
  stream::WriterCursor cursor_;
};

}  // namespace outhaul::node
