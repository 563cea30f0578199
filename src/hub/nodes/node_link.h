// NodeLink: what tasks and streams may ask of a node that is attached. Implemented by NodeSession; a fake in
// tests.
//   runs on  the hub's strand
//   life     from the moment the session is live to its end. Whoever keeps it across a suspension is a
//   coroutine
//            that was started by spawn(): the session ends only after all of them have unwound
#pragma once

#include <functional>

#include "base/error.h"
#include "base/ids.h"
#include "base/task.h"
#include "outhaul/v1/session.pb.h"
#include "transport/channel.h"
#include "wire/target.h"

namespace outhaul::hub {

class NodeLink {
 public:
  virtual ~NodeLink() = default;
  virtual const NodeId& node() const = 0;
  // Errors as transport::Tunnel::open().
  virtual Result<transport::Channel> open(const wire::ChannelTarget& target, v1::Open open) = 0;
  // Queues one message of channel 0. Errors as transport::Tunnel::send_control().
  virtual Result<void> send_control(const v1::Control& message) = 0;
  // Ends the session with this reason; does not wait.
  virtual void close(Error reason) = 0;
  // Starts a coroutine that is cancelled, and awaited, when the session ends.
  virtual void spawn(std::function<Task<void>()> body) = 0;
};

}  // namespace outhaul::hub
