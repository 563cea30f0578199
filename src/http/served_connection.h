// ServedConnection: the requests of one connection, one after the other.
#pragma once

#include <memory>

#include "base/async_clock.h"
#include "http/connection.h"
#include "http/input_buffer.h"
#include "http/router.h"
#include "http/server.h"

namespace outhaul::http {

class ServedConnection {
 public:
  struct Rules {
    AsyncClock& clock;
    const Router& router;
    const ServerLimits& limits;
    const bool& is_draining;  // read before each head
  };
  ServedConnection(std::unique_ptr<Connection> connection, const Rules& rules);

  // Completes when the connection has ended or left for another protocol.
  Task<void> run();
  // Between two requests: closing it loses nothing.
  bool is_idle() const { return is_idle_; }
  // No request of it has been admitted yet.
  bool is_stranger() const { return is_stranger_; }
  void kill();
  // For the sweep.
  void kill_if_past(TimePoint now);

 private:
  Task<bool> serve_one();
  Task<std::optional<ByteView>> read_head();
  Task<void> refuse(Error error);
  Task<void> linger();
  void allow(Duration span) { connection_->set_deadline(rules_.clock.now() + span); }

  Rules rules_;
  std::unique_ptr<Connection> connection_;  // null once upgraded
  InputBuffer input_;
  bool is_idle_ = true;
  bool is_first_ = true;  // no request has come
  bool is_stranger_ = true;
};

}  // namespace outhaul::http
