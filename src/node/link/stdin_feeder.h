// StdinFeeder: standard input on its way from the hub's stream into the program, applied once by offset.
// The node keeps none of it: what the program's pipe has not taken stays with the hub.
//   runs on  the node's strand; feed() is spawned in the session's TaskGroup
#pragma once

#include "node/tasks/task_runner.h"
#include "stream/record_decoder.h"
#include "stream/replication.h"
#include "transport/tunnel.h"

namespace outhaul::node {

class StdinFeeder {
 public:
  // All outlive the feeder.
  StdinFeeder(TaskRunner& runner, transport::Tunnel& tunnel, const Log& log)
      : runner_(runner), tunnel_(tunnel), log_(log) {}

  // A channel of plane stream that the hub opened. Completes with the channel.
  Task<void> feed(transport::IncomingChannel incoming);

 private:
  struct Feed;

  Task<void> await_program(const StreamId& stream);
  Task<Result<void>> take_records(Feed& feed);
  Task<void> deliver(const StreamId& stream, std::uint64_t offset, Bytes payload);
  void acknowledge(const Feed& feed);

  TaskRunner& runner_;
  transport::Tunnel& tunnel_;
  const Log& log_;
};

}  // namespace outhaul::node
